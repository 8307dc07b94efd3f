// What Sources/Micro measures, with V8's promises and Node's timers: figures of the same names.
//
// Usage: node micro.js FIGURE COUNT; without arguments it prints the figures' names.
'use strict';

const chainLength = 10;
const chains = count => Math.max(1, Math.floor(count / chainLength));

function expect(value, expected) {
  if (value !== expected) throw new Error(`${value} came out, not ${expected}`);
}

// Calls `body` so many times, each time from the last callback of the time before.
function repeating(count, body) {
  return new Promise((resolve, reject) => {
    let remaining = count;
    const end = (value, expected) => {
      if (value !== expected) return reject(new Error(`${value} came out, not ${expected}`));
      remaining -= 1;
      if (remaining > 0) body(end);
      else resolve();
    };
    body(end);
  });
}

function promised() {
  let resolve;
  const promise = new Promise(given => { resolve = given; });
  return { promise, resolve };
}

function chain(promise, next, end) {
  for (let i = 0; i < chainLength; i++) promise = promise.then(next);
  promise.then(value => end(value, 1 + chainLength));
}

const pending = next => count => repeating(chains(count), end => {
  const { promise, resolve } = promised();
  chain(promise, next, end);
  resolve(1);
});
const completed = next => count => repeating(chains(count), end => chain(Promise.resolve(1), next, end));

const group = (count, size) => repeating(Math.max(1, Math.floor(count / size)), end => {
  const promises = Array.from({ length: size }, promised);
  Promise.all(promises.map(each => each.promise)).then(values => end(values[0] + values[size - 1], size - 1));
  promises.forEach((each, number) => each.resolve(number));
});

const timerFire = (count, size) => repeating(Math.max(1, Math.floor(count / size)), end => {
  let fired = 0;
  for (let number = 0; number < size; number++) {
    setTimeout(() => {
      fired += 1;
      if (fired === size) end(fired, size);
    }, 1);
  }
});

const figures = {
  'promise': count => repeating(count, end => {
    const { promise, resolve } = promised();
    promise.then(value => end(value, 1));
    resolve(1);
  }),
  'map-pending': pending(value => value + 1),
  'map-completed': completed(value => value + 1),
  'flatMap-pending': pending(value => Promise.resolve(value + 1)),
  'flatMap-completed': completed(value => Promise.resolve(value + 1)),
  'group': count => group(count, Math.min(count, 1000)),
  'timer-cancel': async count => {
    for (let i = 0; i < count; i++) clearTimeout(setTimeout(() => {}, 60_000));
  },
  'timer-replace': async count => {
    const timers = Array.from({ length: 10_000 }, (_, number) => setTimeout(() => {}, 60_000 + number));
    for (let number = 0; number < count; number++) {
      const index = number * 7919 % timers.length;
      clearTimeout(timers[index]);
      timers[index] = setTimeout(() => {}, 60_000 + index);
    }
    timers.forEach(clearTimeout);
  },
  'timer-fire': count => timerFire(count, Math.min(count, 100_000)),
  'await-completed': async count => {
    const promise = Promise.resolve(1);
    let sum = 0;
    for (let i = 0; i < count; i++) sum += await promise;
    expect(sum, count);
  },
  'await-pending': async count => {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const { promise, resolve } = promised();
      queueMicrotask(() => resolve(1));
      sum += await promise;
    }
    expect(sum, count);
  },
  'one-group': count => group(count, count),
  'one-timer-heap': count => timerFire(count, count),
  'one-listener-list': count => new Promise(ended => {
    const { promise, resolve } = promised();
    let sum = 0;
    for (let i = 0; i < count; i++) {
      promise.then(value => {
        sum += value;
        if (sum === count) ended();
      });
    }
    resolve(1);
  }),
};

function refuse(complaint) {
  console.error(complaint);
  process.exit(2);
}

async function main() {
  const [name, number, ...more] = process.argv.slice(2);
  if (name === undefined) return Object.keys(figures).forEach(name => console.log(name));
  if (number === undefined || more.length > 0) refuse('usage: node micro.js [FIGURE COUNT]');
  if (!Object.hasOwn(figures, name)) {
    refuse(`no figure "${name}"; there are ${Object.keys(figures).join(', ')}`);
  }
  const count = Number(number);
  if (!Number.isSafeInteger(count) || count <= 0) refuse(`"${number}" is no positive number`);

  // More than for the others: V8 compiles what is hot.
  await figures[name](20_000);
  const [start, processorStart] = [process.hrtime.bigint(), process.cpuUsage()];
  await figures[name](count);
  const [end, processor] = [process.hrtime.bigint(), process.cpuUsage(processorStart)];
  console.log(Number(end - start) / count, (processor.user + processor.system) * 1000 / count);
}

main();
