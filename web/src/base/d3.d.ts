// The reference that color.test.ts compares our colour maps with.
declare module 'd3-scale-chromatic' {
  export function interpolateViridis(t: number): string;
  export function interpolateCividis(t: number): string;
}
