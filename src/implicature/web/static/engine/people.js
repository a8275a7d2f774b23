// What people answered to the same item: counts from data/site.json, matched by the item's structure, whatever its objects.

function permutations(items) {
  if (items.length < 2) return [items];
  return items.flatMap((item, i) => permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]));
}

const MOST_CANDIDATES = 4;
const columnsOf = (matrix) => matrix[0].map((_, m) => matrix.map((row) => Number(row[m])).join(""));
const sorted = (texts) => texts.filter((text) => text.includes("1")).sort().join(" ");
const total = (numbers) => numbers.reduce((one, other) => one + other, 0);

// The ways in which an item is this game: orders of its rows, with its columns in that order.
function matches(item, truth, accepts) {
  if (item.matrix.length !== truth.length) return [];
  const wanted = sorted(columnsOf(truth));
  return permutations(truth.map((_, i) => i)) // order[i]: the item's row for candidate i
    .map((order) => ({ order, columns: columnsOf(order.map((i) => item.matrix[i])) }))
    .filter(({ order, columns }) => sorted([...columns]) === wanted && accepts(order, columns));
}

// Twins match in several ways: each gets the mean.
const mean = (counts) => (counts.length ? counts[0].map((_, i) => total(counts.map((one) => one[i])) / counts.length) : null);

function listenersOf(item, truth, word) {
  const said = columnsOf(truth)[word];
  return mean(matches(item, truth, (_, columns) => columns[item.given] === said).map(({ order }) => order.map((i) => item.counts[i])));
}

// Words that are true of the same candidates share what was counted for them.
function speakersOf(item, truth, o) {
  const own = columnsOf(truth);
  const alike = (columns, text) => columns.flatMap((column, k) => (column === text ? [k] : []));
  return mean(matches(item, truth, (order) => order[o] === item.given)
    .map(({ columns }) => own.map((text) => total(alike(columns, text).map((k) => item.counts[k])) / alike(own, text).length)));
}

function sharesIn(items, context, role, countsOf) {
  if (!context.uniform || context.candidates.length > MOST_CANDIDATES) return [];
  return items.filter((item) => item.role === role).flatMap((item) => {
    const counts = countsOf(item);
    const sum = counts ? total(counts) : 0;
    return sum > 0 ? [{ source: item.source, n: item.n, unit: item.unit, shares: counts.map((one) => one / sum) }] : [];
  });
}

// For each study in which this word was said in this game: { source, n, unit, shares of the candidates }.
export const peopleFor = (items, context, word) => sharesIn(items, context, "listener", (item) => listenersOf(item, context.truth, word));

// For each study in which this candidate was meant: { source, n, unit, shares of the words }.
export const speakersFor = (items, context, o) => sharesIn(items, context, "speaker", (item) => speakersOf(item, context.truth, o));
