// The exchange network of a trained pair, as nn/exchange.py has it, read from a run's safetensors file.
//
//   cell[o][m]  starts from the compatibility e_o · v_m
//   one layer:  cell ← cell + φ(W cell + W_cm mean_o cell + W_cx max_o cell + W_rm mean_m cell + W_rx max_m cell)
//   P(m | o)    = (1 − λ) softmax_m(2 compatibility + 5 tanh(learned / 5)) + λ / M

const LOGIT_BOUND = 5;
const AUX_EMBEDDINGS = 3;
const EPSILON = 1e-12;

// The tensors of a file: name → { shape, data }, without the axis of seeds, of which there is one.
export function parseSafetensors(buffer) {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensors = {};
  for (const [name, tensor] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: [from, to] } = tensor;
    if (dtype !== "F32") throw new Error(`The tensor ${name} is ${dtype}, not F32.`);
    tensors[name] = { shape: shape.slice(1), data: new Float32Array(buffer.slice(8 + length + from, 8 + length + to)) };
  }
  return tensors;
}

const leaky = (x) => (x > 0 ? x : x / 100);
const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
const mean = (vectors) => vectors[0].map((_, i) => sum(vectors.map((vector) => vector[i])) / vectors.length);
const max = (vectors) => vectors[0].map((_, i) => Math.max(...vectors.map((vector) => vector[i])));

// x W, for W of shape inputs × outputs.
function product(x, { shape: [inputs, outputs], data }) {
  const y = new Array(outputs).fill(0);
  for (let i = 0; i < inputs; i++) for (let j = 0; j < outputs; j++) y[j] += x[i] * data[i * outputs + j];
  return y;
}

const plus = (...vectors) => vectors[0].map((_, i) => sum(vectors.map((vector) => vector[i])));

function softmax(logits) {
  const largest = Math.max(...logits);
  const weights = logits.map((one) => Math.exp(one - largest));
  const all = sum(weights);
  return weights.map((one) => one / all);
}

// One agent's network: features (0 or 1 for each attribute) of the candidates → { likelihood, cells }.
export function encode(tensors, agent, features, lapseRate) {
  const get = (name) => tensors[`.${agent}.net.${name}`];
  const linear = (x, name) => plus(product(x, get(`${name}.weight`)), Array.from(get(`${name}.bias`).data));
  const embedded = features.map((x) => linear(linear(x, "encoder[0]").map(leaky), "encoder[1]"));
  const rowsOf = ({ shape: [rows, width], data }) => Array.from({ length: rows }, (_, i) => data.subarray(i * width, (i + 1) * width));
  const dotAll = (e, vectors) => vectors.map((vector) => sum(e.map((value, i) => value * vector[i])));
  const compatibility = embedded.map((e) => dotAll(e, rowsOf(get("messages"))));
  const words = compatibility[0].length;
  const auxiliary = embedded.map((e) => dotAll(e, rowsOf(get("aux_embeddings"))));
  const columnMean = mean(compatibility), columnMax = max(compatibility);
  let cells = compatibility.map((row, o) => row.map((own, m) => {
    const inputs = [own, columnMean[m], columnMax[m], sum(row) / words, Math.max(...row)];
    for (let k = 0; k < AUX_EMBEDDINGS; k++) inputs.push(auxiliary[o][k * words + m]);
    return linear(inputs, "expand").map(leaky);
  }));
  for (let i = 0; get(`layers[${i}].own`); i++) cells = exchangeLayer(cells, (name) => get(`layers[${i}].${name}`));
  const readout = get("readout.weight").data;
  const likelihood = cells.map((row, o) => {
    const logits = row.map((cell, m) => {
      const learned = sum(cell.map((value, k) => value * readout[k]));
      return 2 * compatibility[o][m] + LOGIT_BOUND * Math.tanh(learned / LOGIT_BOUND);
    });
    return softmax(logits).map((p) => (1 - lapseRate) * p + lapseRate / words + EPSILON);
  });
  return { likelihood, cells };
}

function exchangeLayer(cells, get) {
  const columns = cells[0].map((_, m) => {
    const column = cells.map((row) => row[m]);
    return plus(product(mean(column), get("column_mean.weight")), Array.from(get("column_mean.bias").data), product(max(column), get("column_max")));
  });
  return cells.map((row) => {
    const ofRow = plus(product(mean(row), get("row_mean")), product(max(row), get("row_max")));
    return row.map((cell, m) => plus(cell, plus(product(cell, get("own")), columns[m], ofRow).map(leaky)));
  });
}

// The belief after each word, column by column: b'(o) ∝ b(o) P(m | o).
export function posterior(likelihood, belief) {
  const columns = likelihood[0].map((_, m) => softmax(likelihood.map((row, o) => Math.log(row[m]) + Math.log(belief[o] + EPSILON))));
  return likelihood.map((row, o) => row.map((_, m) => columns[m][o]));
}

export const entropy = (belief) => -sum(belief.map((p) => p * Math.log(p + EPSILON)));

// Q(O, o*, b, m) of every word, as agents/teacher.py has it.
export function qValues(tensors, { likelihood, cells }, target, belief) {
  const expected = posterior(likelihood, belief);
  const get = (name) => tensors[`.teacher.${name}`];
  const [hidden, out] = [get("q_hidden.weight"), get("q_out.weight").data];
  const bias = Array.from(get("q_hidden.bias").data);
  const width = bias.length;
  const ofBelief = get("q_belief").data;
  return cells[target].map((cell, m) => {
    const after = expected.map((row) => row[m]);
    const inputs = plus(product(cell, hidden), bias);
    const uncertainty = entropy(after);
    const value = sum(inputs.map((x, j) => out[j] * leaky(x + ofBelief[j] * after[target] + ofBelief[width + j] * uncertainty)));
    return after[target] + value + get("q_out.bias").data[0];
  });
}

// The student's probability of waiting for another word.
export function waitProbability(tensors, belief) {
  const slope = tensors[".student.wait_slope"].data[0], offset = tensors[".student.wait_offset"].data[0];
  return 1 / (1 + Math.exp(-(slope * entropy(belief) + offset)));
}
