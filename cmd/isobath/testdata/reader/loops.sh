cc -O1 -g -fno-inline -I "$REPOSITORY/examples/loops" -o bubble "$REPOSITORY/examples/loops/bubble_array.c" "$REPOSITORY/examples/loops/region.c"
