// hls.js ships no declarations for its light build; what of it we use is the same.
declare module 'hls.js/light' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}
