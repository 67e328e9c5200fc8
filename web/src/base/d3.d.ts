// The few functions of d3 that the page uses.
declare module 'd3-array' {
  export function ticks(start: number, stop: number, count: number): number[];
}
declare module 'd3-scale-chromatic' {
  export function interpolateViridis(t: number): string;
  export function interpolateCividis(t: number): string;
}
