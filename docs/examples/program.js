// A function and its gradient, for: gradcheck-ref check -- node program.js
const x = [1, -0.5, 2], y = [0.5, -0.2];

// A layer of two units: the sum of (tanh(W x + b) - y)^2. W comes row by row.
const units = ({W, b}) =>
  b.map((bias, i) => Math.tanh(x.reduce((sum, v, j) => sum + W[3 * i + j] * v, bias)));
const loss = (at) => units(at).reduce((sum, t, i) => sum + (t - y[i]) ** 2, 0);

function gradient(at) {
  const b = units(at).map((t, i) => 2 * (t - y[i]) * (1 - t * t));
  return {W: b.flatMap((slope) => x.map((v) => slope * v)), b};
}

// What the check asks; a real is a string in both directions.
const read = ({whole}) => ({W: whole.W.map(Number), b: whole.b.map(Number)});
const answers = {
  hello: () => ({protocol: 1, name: "program.js", answers: ["describe", "value", "gradient"]}),
  describe: () => ({inputs: [
    {name: "W", shape: [2, 3], default: ["0.3", "-0.2", "0.1", "0.4", "0.5", "-0.6"]},
    {name: "b", shape: [2], default: ["0.1", "-0.3"]},
  ]}),
  value: ({points}) => ({values: points.map((point) => String(loss(read(point))))}),
  gradient({point}) {
    const {W, b} = gradient(read(point));
    return {gradient: {W: W.map(String), b: b.map(String)}};
  },
};

require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const request = JSON.parse(line);
  console.log(JSON.stringify({id: request.id, ...answers[request.ask](request)}));
});
