cp -r $FIXTURES/otf2/ring16 ring16
cp -r $FIXTURES/otf2/halo16 before.otf2
cp -r $FIXTURES/otf2/halo16_skew after.otf2
cp -r $FIXTURES/otf2/halo16 allred.otf2
cp -r $FIXTURES/otf2/lulesh8 lulesh.otf2
mpicc -O1 -g -o halo "$REPOSITORY/fixtures/mpi/halo.c" -lm
