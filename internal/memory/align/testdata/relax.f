C     Springs between points on a line, pulled straight by relaxation.
C     This program reads how many points there are and how often they
C     are moved. The subroutine FORCES is where its time goes.
      PROGRAM RELAX
      INTEGER NMAX
      PARAMETER (NMAX = 100000)
      DOUBLE PRECISION X(NMAX), V(NMAX), F(NMAX), ENERGY, E0
      INTEGER N, NSTEP, I, ISTEP
      COMMON /SPRING/ STIFF, REST, DAMP
      DOUBLE PRECISION STIFF, REST, DAMP
      EXTERNAL ENERGY
      STIFF = 2.5D0
      REST = 1.0D0
      DAMP = 0.05D0
      READ (*, *, END=90) N, NSTEP
      IF (N .GT. NMAX) GO TO 90
      CALL PLACE(N, X, V)
      E0 = ENERGY(N, X, V)
      DO 20 ISTEP = 1, NSTEP
         CALL FORCES(N, X, F)
         CALL MOVE(N, X, V, F, 0.01D0)
         IF (MOD(ISTEP, 50) .EQ. 0) THEN
            WRITE (*, 100) ISTEP, ENERGY(N, X, V) / E0
         ENDIF
   20 CONTINUE
      STOP
   90 WRITE (*, *) 'TOO MANY POINTS, OR NONE'
  100 FORMAT (1X, I8, 2X, F12.6)
      END

C     Points are placed a little too far from each other, every third
C     of them a little more. This function of the index is arbitrary.
      SUBROUTINE PLACE(N, X, V)
      INTEGER N, I
      DOUBLE PRECISION X(N), V(N)
      DO 10 I = 1, N
         X(I) = 1.1D0 * DBLE(I)
         IF (MOD(I, 3) .EQ. 0) X(I) = X(I) + 0.2D0
         V(I) = 0.0D0
   10 CONTINUE
      RETURN
      END

      SUBROUTINE FORCES(N, X, F)
      INTEGER N, I
      DOUBLE PRECISION X(N), F(N), LONG, PULL
      COMMON /SPRING/ STIFF, REST, DAMP
      DOUBLE PRECISION STIFF, REST, DAMP
      DO 10 I = 1, N
         F(I) = 0.0D0
   10 CONTINUE
*     Each spring pulls at both of its ends.
      DO 20 I = 1, N - 1
         LONG = X(I + 1) - X(I)
         PULL = STIFF * (LONG - REST)
         IF (LONG .LT. 0.5D0 * REST) THEN
            PULL = PULL - STIFF * (0.5D0 * REST - LONG)
         ELSE IF (LONG .GT. 2.0D0 * REST) THEN
            PULL = PULL * (1.0D0 + 0.1D0 *
     &             (LONG / REST - 2.0D0))
         END IF
         F(I) = F(I) + PULL
         F(I + 1) = F(I + 1) - PULL
   20 CONTINUE
      RETURN
      END

      SUBROUTINE MOVE(N, X, V, F, STEP)
      INTEGER N, I
      DOUBLE PRECISION X(N), V(N), F(N), STEP
      COMMON /SPRING/ STIFF, REST, DAMP
      DOUBLE PRECISION STIFF, REST, DAMP
      DO 10 I = 1, N
         V(I) = (V(I) + STEP * F(I)) * (1.0D0 - DAMP)
         X(I) = X(I) + STEP * V(I)
   10 CONTINUE
C     The first point is held.
      X(1) = 0.0D0
      V(1) = 0.0D0
      RETURN
      END

      DOUBLE PRECISION FUNCTION ENERGY(N, X, V)
      INTEGER N, I
      DOUBLE PRECISION X(N), V(N), LONG
      COMMON /SPRING/ STIFF, REST, DAMP
      DOUBLE PRECISION STIFF, REST, DAMP
      ENERGY = 0.0D0
      DO 10 I = 1, N
         ENERGY = ENERGY + 0.5D0 * V(I)**2
   10 CONTINUE
      DO 20 I = 1, N - 1
         LONG = X(I + 1) - X(I)
         ENERGY = ENERGY + 0.5D0 * STIFF * (LONG - REST)**2
   20 CONTINUE
      RETURN
      END
