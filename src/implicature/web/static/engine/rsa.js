// The exact recursion, as agents/rsa.py has it. truth[o][m] is 1 where word m is true of candidate o.
//
//   S_0(m | o)   ∝ truth[o][m]  (start "share"), or is truth[o][m] itself ("indicator")
//   L_t(o | m)   ∝ prior(o) · S_t(m | o)
//   S_t+1(m | o) ∝ truth[o][m] · exp(rationality · (U(o, m) − cost(m)))
//                  U = L_t(o | m) (utility "belief") or log L_t(o | m) ("log")
//
// A word that no teacher of depth t would say leaves the student of depth t with what the student of depth t-1 made of
// it. Tables are arrays of rows, one for each candidate.

export const TIE = 1e-5;

export const DEFAULTS = { depth: 3, rationality: 10, utility: "belief", start: "share" };

const tableOf = (truth, cell) => truth.map((row, o) => row.map((_, m) => cell(o, m)));
const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
export const column = (table, m) => table.map((row) => row[m]);

function expNormalize(logarithms) {
  const largest = Math.max(...logarithms);
  if (largest === -Infinity) return logarithms.map(() => 0);
  const weights = logarithms.map((one) => Math.exp(one - largest));
  const sum = total(weights);
  return weights.map((one) => one / sum);
}

export function literalTeacher(truth, start) {
  return truth.map((row) => {
    const number = start === "share" ? Math.max(1, total(row)) : 1;
    return row.map((one) => one / number);
  });
}

// L_t, column by column, of a teacher given in logarithms.
function student(logTeacher, prior, surprised) {
  const words = logTeacher[0].length;
  const columns = Array.from({ length: words }, (_, m) => {
    const belief = expNormalize(logTeacher.map((row, o) => Math.log(prior[o]) + row[m]));
    return total(belief) > 0 ? belief : column(surprised, m);
  });
  return tableOf(logTeacher, (o, m) => columns[m][o]);
}

// log S_t+1, row by row.
function logTeacher(truth, belief, { rationality, utility }, costs) {
  const value = utility === "log" ? Math.log : (probability) => probability;
  return truth.map((row, o) => {
    const exponents = row.map((one, m) => {
      if (!one) return -Infinity;
      return rationality === 0 ? 0 : rationality * (value(belief[o][m]) - costs[m]);
    });
    const largest = Math.max(...exponents);
    if (largest === -Infinity) return exponents;
    const sum = total(exponents.map((one) => Math.exp(one - largest)));
    return exponents.map((one) => one - largest - Math.log(sum));
  });
}

// S_t and L_t for t = 0 … depth: { teacher, student }, each a list of tables.
export function recursion(truth, settings = {}, prior = null, costs = null) {
  const chosen = { ...DEFAULTS, ...settings };
  const before = prior ?? truth.map(() => 1 / truth.length);
  const prices = costs ?? truth[0].map(() => 0);
  const literal = literalTeacher(truth, chosen.start);
  const logs = [tableOf(literal, (o, m) => Math.log(literal[o][m]))];
  const students = [student(logs[0], before, tableOf(truth, (o) => before[o]))];
  for (let t = 0; t < chosen.depth; t++) {
    logs.push(logTeacher(truth, students[t], chosen, prices));
    students.push(student(logs[t + 1], before, students[t]));
  }
  return { teacher: logs.map((table) => table.map((row) => row.map(Math.exp))), student: students };
}

// Where the largest value is; more than one where a choice is a coin toss. Words that may not be said are null.
export function best(values) {
  const largest = Math.max(...values.map((value) => value ?? -Infinity));
  return values.flatMap((value, i) => (value !== null && value > -Infinity && value >= largest - TIE ? [i] : []));
}

// The chance that a pair finds each candidate: she says her best true word, he picks his best candidate.
export function greedyAccuracy(truth, belief) {
  return truth.map((row, o) => {
    const words = best(row.map((one, m) => (one ? belief[o][m] : null)));
    if (!words.length) return 0;
    return total(words.map((m) => chanceOf(column(belief, m), o))) / words.length;
  });
}

// The chance that somebody with this belief guesses o.
export function chanceOf(belief, o) {
  const guesses = best(belief);
  return belief[o] > 0 && guesses.includes(o) ? 1 / guesses.length : 0;
}
