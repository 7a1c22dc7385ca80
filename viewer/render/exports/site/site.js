"use strict";
const site = {}, pending = {}, terms = /*TERMS*/;
const runs = new RegExp(`[${terms.unspaced}]+|(?:(?![${terms.unspaced}])[\\p{L}\\p{N}])+`, "gu");
const unspaced = new RegExp(`^[${terms.unspaced}]`, "u"), order = new Intl.Collator("en", { numeric: true }).compare;
const $ = (id) => document.getElementById(id), column = { Name: 0, Format: 2, Model: 3, Messages: 4, Problems: 6, Date: 7 };
const fold = (word) => word.toUpperCase().toLowerCase();
const make = (tag, text, name) => Object.assign(document.createElement(tag), { textContent: text }, name ? { className: name } : {});
const link = (text, href) => Object.assign(make("a", text), { href });
function load(name) {
  if ($("data") && !site.rows) Object.assign(site, JSON.parse($("data").textContent));
  if (site[name] || $("data")) return Promise.resolve(site[name] || {});
  return pending[name] ??= new Promise((done) => {
    const script = document.createElement("script");
    script.onload = script.onerror = () => done(site[name] || {});
    script.src = `${name}.js`;
    document.head.append(script);
  });
}
function shard(term) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(term)) hash = Math.imul(hash ^ byte, 0x01000193);
  return `search/${(hash >>> 24).toString(16).padStart(2, "0")}`;
}
function split(query) {
  return (query.normalize("NFC").match(runs) || []).map((run) => {
    const all = Array.from(fold(run));
    const cut = Array.from(run).slice(0, terms.longest).join("");
    if (!unspaced.test(run)) return { run: cut, keys: [fold(cut)] };
    return { run, keys: all.length < 2 ? all : all.slice(1).map((each, at) => all[at] + each) };
  });
}
async function places(query) {
  let found = null;
  for (const key of new Set(split(query).flatMap((each) => each.keys))) {
    const held = await load(shard(key)), next = new Map();
    for (const [row, ...numbers] of Object.hasOwn(held, key) ? held[key] : []) {
      const both = found ? numbers.filter((number) => found.get(row)?.has(number)) : numbers;
      if (both.length) next.set(row, new Set(both));
    }
    found = next;
  }
  return [...(found || [])].flatMap(([row, numbers]) => [...numbers].map((number) => [row, number]));
}
function context(text, query) {
  const needles = split(query).map(({ run }) => fold(run));
  for (const match of text.matchAll(runs)) {
    const word = fold(Array.from(match[0]).slice(0, unspaced.test(match[0]) ? Infinity : terms.longest).join(""));
    const at = Math.max(...needles.map((needle) => (unspaced.test(needle) ? word.indexOf(needle) : word === needle ? 0 : -1)));
    if (at < 0) continue;
    const before = Array.from(text.slice(Math.max(0, match.index + at - 60), match.index + at)).slice(-30).join("");
    const start = match.index + at - before.length, quoted = Array.from(text.slice(start, start + 160)).slice(0, 80).join("");
    return (start ? "…" : "") + quoted + (start + quoted.length < text.length ? "…" : "");
  }
  return Array.from(text.slice(0, 160)).slice(0, 80).join("");
}
let asked = 0, shown = 0;
// How many texts of results load at once: more would delay the first result.
const AHEAD = 8;
async function search(query) {
  const turn = ++asked, rows = await load("rows"), found = await places(query);
  const named = rows.filter((row) => query && fold(row[0]).includes(fold(query)));
  if (turn !== asked) return;
  for (const id of ["table", "pager"]) if ($(id)) $(id).hidden = Boolean(query);
  $("results").replaceChildren(...named.slice(0, 50).map((row) => { const item = make("li", ""); item.append(link(row[0], row[1])); return item; }));
  $("status").textContent = query && `${found.length.toLocaleString("en")} message${found.length === 1 ? "" : "s"} and ${named.length.toLocaleString("en")} name${named.length === 1 ? "" : "s"} match.${found.length > 100 ? " The first 100 messages are listed." : ""}`;
  const listed = query ? found.slice(0, 100) : [], text = (row) => load(`text/${rows[row][1].replace(/^t\/|^#|\.html$/g, "")}`);
  for (const [row] of listed.slice(0, AHEAD)) text(row);
  for (const [index, [row, number]] of listed.entries()) {
    if (index + AHEAD < listed.length) text(listed[index + AHEAD][0]);
    const [name, page] = rows[row], texts = await text(row);
    if (turn !== asked) return;
    const item = make("li", ""), to = page[0] === "#" ? `${page}-m${number}` : `${page}#m${number}`;
    item.append(link(`${name} ${number ? `#${number}` : ""}`, number ? to : page), make("span", context(texts[number] || "", query), "context"));
    $("results").append(item);
  }
}
function cells(row) {
  const line = make("tr", ""), first = make("td", "");
  first.append(link(row[0], row[1]));
  const count = make("td", row[4].toLocaleString("en"), "figure");
  if (row[5]) count.append(make("span", ` +${row[5].toLocaleString("en")} hidden`, "quiet"));
  line.append(first, make("td", row[2]), make("td", row[3]), count, make("td", row[6].map(([code, n]) => n > 1 ? `${code} ×${n}` : code).join(", ")), make("td", row[7], "figure"));
  return line;
}
let sorting = { title: "", up: false };
async function sort(title, start) {
  const rows = await load("rows"), at = column[title], count = rows.length.toLocaleString("en");
  if (!start) sorting = { title, up: sorting.title !== title || !sorting.up };
  const key = (row) => (at === 6 ? row[6].reduce((sum, [, n]) => sum + n, 0) : row[at]);
  const compare = (a, b) => (typeof key(a) === "number" ? key(a) - key(b) : order(key(a), key(b)));
  const sorted = [...rows].sort((a, b) => (sorting.up ? compare(a, b) : compare(b, a)));
  for (const head of heads) head.cell.ariaSort = head.title === title ? (sorting.up ? "ascending" : "descending") : null;
  $("rows").replaceChildren(...sorted.slice(start, start + terms.page).map(cells));
  const last = Math.min(rows.length, start + terms.page), more = make("button", `Next ${terms.page.toLocaleString("en")}`);
  more.onclick = () => sort(title, last);
  const said = make("span", `${(start + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${count}`);
  if ($("pager")) $("pager").replaceChildren(said, ...(last < rows.length ? [more] : []));
}
const heads = [...document.querySelectorAll("#table th")].map((cell) => ({ cell, title: cell.textContent }));
for (const head of heads) {
  const button = make("button", head.title);
  button.onclick = () => sort(head.title, 0);
  head.cell.replaceChildren(button);
}
$("search").hidden = false;
$("search").onsubmit = (event) => { event.preventDefault(); search($("query").value.trim()); };
$("query").oninput = () => { clearTimeout(shown); shown = setTimeout(search, 120, $("query").value.trim()); };
