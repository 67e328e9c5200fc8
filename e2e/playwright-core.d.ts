// What playwright-core exports beside its types.
declare module 'playwright-core/lib/utilsBundle' {
  export const ws: typeof WebSocket;
}
