isobath import demo -o lulesh.isobath
