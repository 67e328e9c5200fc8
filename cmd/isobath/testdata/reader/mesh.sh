isobath import demo -o run.isobath
dumps=$FIXTURES/mesh/lulesh
mkdir dumps
cp "$dumps"/*.vtk dumps/
