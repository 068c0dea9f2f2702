// Shows how this page was coded on its way here, and measures the payloads when asked to.
//
// The figures are the browser's own (Resource Timing), so they hold for any server. Where a browser
// lacks one, the response's header fields and the clock stand in.

const NOTES = {
  zstd: 'Zstandard, RFC 8878.',
  br: 'Brotli, RFC 7932.',
  gzip: 'DEFLATE in a gzip wrapper, RFC 1951 and 1952.',
  deflate: 'DEFLATE in a zlib wrapper, RFC 1951 and 1950.',
  identity: 'No coding: the bytes came as they are.',
};
const COLUMNS = { coding: 'Coding', wire: 'On the wire', ratio: 'Ratio', time: 'Time' };
const DASH = '–';

const byId = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString('en');
const millis = (ms) => (ms >= 0 ? `${ms.toFixed(1)} ms` : DASH);
const ratio = (size, wire) => (size && wire ? `${(size / wire).toFixed(2)}×` : DASH);

for (const span of document.querySelectorAll('.origin')) span.textContent = location.origin;
const nextTiming = observeTimings();
preparePayloads(byId('payloads'), byId('measure'), byId('status'));
showPage().catch((error) => {
  byId('coding-note').textContent = `The figures are missing: ${error.message}.`;
});

async function showPage() {
  if (document.readyState !== 'complete') {
    await new Promise((loaded) => addEventListener('load', loaded, { once: true }));
  }
  // A script cannot read the header fields that its own page came with. Those of a second request it can.
  const second = await measure(location.origin + location.pathname + location.search);
  const [navigation] = performance.getEntriesByType('navigation');
  // A revalidated page (304) transfers less than its body; a cached one transfers nothing.
  const cached = !(navigation?.encodedBodySize <= navigation?.transferSize);
  const page = cached ? second : { ...second, ...figures(navigation) };

  byId('server').textContent = page.server;
  byId('coding').textContent = page.coding === 'identity' ? 'plain' : page.coding;
  byId('coding-note').textContent = NOTES[page.coding] ?? '';
  showBytes(byId('size'), page.size, ' bytes');
  showBytes(byId('wire'), page.wire, ' bytes');
  byId('wire-bar').style.setProperty('--part', page.wire / page.size);
  byId('ratio').textContent = ratio(page.size, page.wire);
  byId('saved').textContent = `${Math.round(100 * (1 - page.wire / page.size))} %`;
  byId('ttfb').textContent = millis(page.firstByte);
  byId('time').textContent = millis(page.time);
  byId('protocol').textContent = page.protocol || DASH;
  byId('cached').hidden = !cached;
}

/** Adds the measured columns to the table and lets the button fill them. */
function preparePayloads(table, button, status) {
  const rows = [...table.querySelectorAll('tbody tr:not(.group)')];
  const foot = table.createTFoot().insertRow();
  foot.append(element('th', 'All', { scope: 'row' }));
  foot.insertCell();
  foot.insertCell().textContent = count(sum(rows.map((row) => Number(row.querySelector('data').value))));

  for (const [name, title] of Object.entries(COLUMNS)) {
    table.tHead.rows[0].append(element('th', title, { scope: 'col', className: name }));
    for (const row of [...rows, foot]) row.insertCell().className = name;
  }
  for (const group of table.querySelectorAll('.group th')) group.colSpan += Object.keys(COLUMNS).length;

  button.addEventListener('click', async () => {
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true';
    const results = [];
    // One after another, so that no payload's time holds that of its neighbour.
    for (const [index, row] of rows.entries()) {
      status.textContent = `${index + 1} of ${rows.length}`;
      try {
        const result = await measure(row.querySelector('a').href);
        showRow(row, result);
        results.push(result);
      } catch (error) {
        row.querySelector('.coding').replaceChildren(element('i', error.message));
      }
    }
    const total = (key) => sum(results.map((result) => result[key]));
    showRow(foot, { size: total('size'), wire: total('wire'), time: total('time') });
    status.textContent = `${results.length} of ${rows.length} measured`;
    button.textContent = 'Measure again';
    button.ariaDisabled = 'false';
  });
}

function showRow(row, { coding = '', size, wire, time }) {
  const cell = (name) => row.querySelector(`td.${name}`);
  row.dataset.coding = coding;
  cell('coding').replaceChildren(element('i', coding));
  cell('wire').replaceChildren(showBytes(element('data'), wire));
  cell('wire').style.setProperty('--part', size ? wire / size : 0);
  cell('ratio').textContent = ratio(size, wire);
  cell('time').textContent = millis(time);
}

function showBytes(data, n, unit = '') {
  data.value = n;
  data.textContent = count(n) + unit;
  return data;
}

/** Fetches `url` past the cache: its coding, sizes in bytes and times in milliseconds. */
async function measure(url) {
  const timing = nextTiming(url);
  const started = performance.now();
  const response = await fetch(url, { cache: 'no-store' });
  const size = (await response.arrayBuffer()).byteLength;
  const time = performance.now() - started;
  if (!response.ok) throw new Error(`status ${response.status}`);
  const header = (name) => response.headers.get(name);
  const read = {
    coding: header('content-encoding') ?? 'identity',
    server: header('server') ?? '',
    size,
    wire: Number(header('content-length') ?? size),
    time,
  };
  return { ...read, ...figures(await Promise.race([timing, after(500)])) };
}

/** What a timing entry tells, without what this browser leaves out of it. */
function figures(entry) {
  if (!entry?.responseStart) return {};
  const figures = {
    firstByte: entry.responseStart - entry.requestStart,
    time: entry.responseEnd - entry.requestStart,
    protocol: entry.nextHopProtocol,
  };
  if (entry.contentEncoding) figures.coding = entry.contentEncoding;
  if (entry.encodedBodySize) Object.assign(figures, { size: entry.decodedBodySize, wire: entry.encodedBodySize });
  return figures;
}

/** Promises the timing entry of the next request for an address. It comes a moment after the body. */
function observeTimings() {
  const waiting = new Map();
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) waiting.get(entry.name)?.(entry);
  }).observe({ type: 'resource' });
  return (url) => new Promise((resolve) => waiting.set(url, resolve));
}

function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function element(name, text = '', properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text }, properties);
}

function sum(numbers) {
  return numbers.reduce((total, n) => total + n, 0);
}
