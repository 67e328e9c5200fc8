// Places on the scale lie in a texture by cell, so that another field or scale moves no
// geometry. A cell without a value is hatched in screen space and never looks
// like one.
export const VERTEX = `
in int cell;
flat out int vCell;
out vec3 vPlace;
void main() {
  vCell = cell;
  vec4 p = modelViewMatrix * vec4(position, 1.0);
  vPlace = p.xyz;
  gl_Position = projectionMatrix * p;
}`;

export const FRAGMENT = `
precision highp float;
precision highp int;
uniform highp sampler2D values;
uniform sampler2D ramp;
uniform int row;
uniform vec3 bare;
uniform vec3 hatch;
uniform vec3 ground;
uniform float pixel;
flat in int vCell;
in vec3 vPlace;
out vec4 colour;
void main() {
  float v = texelFetch(values, ivec2(vCell % row, vCell / row), 0).r;
  vec3 c;
  vec2 at = gl_FragCoord.xy / pixel;
  if (v < -3.0e38) {
    c = mod(at.x + at.y, 6.0) < 1.2 ? hatch : bare;
  } else {
    bool few = v > 4.0;
    if (few) v -= 8.0;
    c = texture(ramp, vec2((clamp(v, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    if ((v < 0.0 || v > 1.0) && length(mod(at, 6.0) - 3.0) < 1.0) c = mix(c, hatch, 0.7);
    if (few && mod(at.x - at.y, 6.0) < 1.2) c = mix(c, ground, 0.7);
  }
  vec3 n = normalize(cross(dFdx(vPlace), dFdy(vPlace)));
  colour = vec4(c * (0.90 + 0.10 * max(0.0, dot(n, normalize(vec3(0.35, 0.5, 0.8))))), 1.0);
}`;

// The number of each cell as a colour, 0 for none: 16 million cells can be seen.
export const NUMBERS = `
precision highp int;
flat in int vCell;
out vec4 colour;
void main() {
  int n = vCell + 1;
  colour = vec4(float(n & 255), float((n >> 8) & 255), float((n >> 16) & 255), 255.0) / 255.0;
}`;
