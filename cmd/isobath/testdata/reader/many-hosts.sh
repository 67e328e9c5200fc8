# Two nodes that differ in nothing but their names and how fast they are.
isobath export demo -o node.csv
isobath import demo -o node1.isobath
isobath import demo:fixed -o node2.isobath
sed -i 's/"host": *"[^"]*"/"host": "node2"/' node2.isobath/*.json
