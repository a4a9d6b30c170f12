"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const lines = (id) => get(id).textContent.split("\n").filter((line) => line !== "");
  const ROW = 19, FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace', MERGED = 8, IDLE = 7;
  const kinds = lines("kinds").map((line) => {
    const [fill, text, used, title] = line.split("|");
    return { fill, text, used: used === "1", title };
  });
  /* The name comes last, and may hold the separator. */
  const boxes = lines("boxes").map((line, index) => {
    const parts = line.split("|");
    const [x, width, level, parent, kind, more, share] = parts.slice(0, 7).map(Number);
    return { index, x, width, level, parent, kind, more, share, inclusive: parts[7], exclusive: parts[8], name: parts.slice(9).join("|"), children: [], match: false };
  });
  for (const box of boxes) if (box.parent >= 0) boxes[box.parent].children.push(box);
  const origin = Number(get("boxes").dataset.origin);
  const levels = boxes.reduce((most, box) => Math.max(most, box.level + 1), 1);
  const canvas = get("picture"), context = canvas.getContext("2d"), tip = get("tip"), search = get("search");
  const state = { root: null, selected: null, text: "", matches: [] };
  document.title = get("heading").textContent;

  const legend = get("legend"), NS = "http://www.w3.org/2000/svg";
  for (const kind of kinds.filter((k) => k.used)) {
    const item = document.createElement("li"), mark = document.createElementNS(NS, "svg"), rect = document.createElementNS(NS, "rect");
    rect.setAttribute("width", "12");
    rect.setAttribute("height", "12");
    rect.setAttribute("fill", kind.fill);
    mark.setAttribute("aria-hidden", "true");
    mark.append(rect);
    item.append(mark, kind.title);
    legend.append(item);
  }

  /* The part of the picture that is shown. */
  const view = () => (state.root ? { x: state.root.x, width: state.root.width } : { x: 0, width: 1 });
  const place = (box) => {
    const { x, width } = view(), scale = canvas.clientWidth / width;
    return { x: (box.x - x) * scale, y: box.level * ROW, width: box.width * scale };
  };
  const isInside = (box) => {
    const { x, width } = view();
    return box.x + box.width > x && box.x < x + width;
  };

  function drawBox(box, page) {
    const at = place(box);
    let left = Math.max(0, at.x), right = Math.min(canvas.clientWidth, at.x + at.width);
    if (right - left < 0.25) return;
    const kind = kinds[box.kind], dimmed = state.text !== "" && !box.match;
    context.globalAlpha = dimmed ? 0.25 : 1;
    context.fillStyle = kind.fill;
    const width = right - left > 3 ? right - left - 1 : right - left;
    context.fillRect(left, at.y, width, ROW - 1);
    if (box.kind === IDLE) {
      context.save();
      context.beginPath();
      context.rect(left, at.y, width, ROW - 1);
      context.clip();
      context.strokeStyle = "#9a9a9a";
      for (let i = left - ROW; i < right; i += 7) {
        context.beginPath();
        context.moveTo(i, at.y + ROW);
        context.lineTo(i + ROW, at.y);
        context.stroke();
      }
      context.restore();
    }
    const room = Math.floor((width - 8) / 7.25);
    if (room >= 2) {
      if (origin > 0) context.font = (box.level === origin ? "bold " : "") + FONT;
      context.fillStyle = dimmed ? page : kind.text;
      const name = Array.from(box.name);
      context.fillText(name.length <= room ? box.name : name.slice(0, room - 1).join("") + "\u2026", left + 4, at.y + 13);
    }
    if (box === state.selected) {
      context.globalAlpha = 1;
      context.lineWidth = 2;
      context.strokeStyle = page;
      context.strokeRect(left + 1, at.y + 1, Math.max(1, width - 2), ROW - 3);
      context.lineWidth = 1;
    }
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(levels * ROW * ratio);
    canvas.style.height = levels * ROW + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    const page = getComputedStyle(document.body).color;
    for (const box of boxes) if (isInside(box)) drawBox(box, page);
    context.globalAlpha = 1;
    const root = state.root ? `, ${state.root.name} is the root` : "";
    canvas.setAttribute("aria-label", `${document.title}: ${boxes.length} boxes in ${levels} levels${root}`);
    get("back").disabled = get("all").disabled = state.root === null;
  }

  /* ---- search ---- */

  /* The share of matches, where one in another counts once. */
  function find(text) {
    const wanted = text.toLowerCase();
    state.text = wanted;
    state.matches = [];
    let share = 0;
    const covered = new Set();
    for (const box of boxes) {
      box.match = wanted !== "" && box.more === 0 && box.name.toLowerCase().includes(wanted);
      if (box.match) state.matches.push(box);
      if (box.parent >= 0 && covered.has(box.parent)) covered.add(box.index);
      else if (box.match) {
        covered.add(box.index);
        share += box.share;
      }
    }
    const count = state.matches.length;
    get("found").textContent = wanted === "" ? "" : `matches: ${(100 * share).toFixed(2)} % in ${count} box${count === 1 ? "" : "es"}`;
    draw();
  }

  function next(step) {
    const { matches } = state;
    if (matches.length === 0) return;
    const at = matches.indexOf(state.selected);
    select(matches[(at + step + matches.length) % matches.length] || matches[0]);
  }

  /* ---- selection ---- */

  const path = (box) => {
    const found = [];
    for (let b = box; b; b = b.parent >= 0 ? boxes[b.parent] : null) found.unshift(b.name);
    return found;
  };
  const describe = (box) =>
    `${box.name}\n${box.inclusive}${box.exclusive ? `; itself ${box.exclusive}` : ""}\n${box.more ? "too narrow for boxes of their own" : kinds[box.kind].title}`;

  function row(table, cells, tag) {
    const line = table.insertRow();
    for (const cell of cells) {
      const item = document.createElement(tag);
      item.textContent = cell;
      line.append(item);
    }
  }

  function show(box) {
    const pane = get("selected");
    pane.replaceChildren();
    if (!box) return;
    const words = document.createElement("div");
    words.textContent = path(box).join(" \u203a ");
    const table = document.createElement("table");
    row(table, ["with callees", "itself", "name"], "th");
    row(table, [box.inclusive, box.exclusive, box.name], "td");
    for (const child of box.children.slice(0, 10)) row(table, [child.inclusive, child.exclusive, "\u2514 " + child.name], "td");
    pane.append(words, table);
  }

  function select(box) {
    state.selected = box;
    if (box && !isInside(box)) state.root = null;
    show(box);
    draw();
  }

  function zoom(box) {
    if (box && !(box.width > 0)) return;
    state.root = box;
    if (box) state.selected = box;
    show(state.selected);
    draw();
  }

  function out() {
    const { root } = state;
    if (root) zoom(root.parent >= 0 ? boxes[root.parent] : null);
  }

  function at(event) {
    const area = canvas.getBoundingClientRect(), { x, width } = view();
    const level = Math.floor((event.clientY - area.top) / ROW), where = x + ((event.clientX - area.left) / area.width) * width;
    return boxes.find((box) => box.level === level && where >= box.x && where < box.x + box.width) || null;
  }

  canvas.addEventListener("mousemove", (event) => {
    const box = at(event);
    tip.hidden = !box;
    if (!box) return;
    tip.textContent = describe(box);
    const left = event.pageX + 14, room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(8, Math.min(left, room)) + "px";
    tip.style.top = event.pageY + 18 + "px";
  });
  canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => select(at(event)));
  canvas.addEventListener("dblclick", (event) => zoom(at(event)));

  /* Siblings, or whatever is beside it on its level. */
  function move(box, step) {
    const same = boxes.filter((b) => b.level === box.level && isInside(b));
    return same[same.indexOf(box) + step] || box;
  }
  const down = (box) => box.children.find((child) => child.level > box.level && isInside(child)) || (box.parent >= 0 && boxes[box.parent].level > box.level ? boxes[box.parent] : box);
  const up = (box) => (box.parent >= 0 && boxes[box.parent].level < box.level ? boxes[box.parent] : box.children.find((child) => child.level < box.level && isInside(child)) || box);
  const moves = { ArrowLeft: (b) => move(b, -1), ArrowRight: (b) => move(b, 1), ArrowDown: down, ArrowUp: up };
  canvas.addEventListener("keydown", (event) => {
    if (!moves[event.key] || boxes.length === 0) return;
    event.preventDefault();
    select(state.selected ? moves[event.key](state.selected) : state.root || boxes[0]);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.selected) zoom(state.selected);
    if (event.key === "Backspace") out();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    if (event.key === "Escape" && typing && search.value !== "") {
      search.value = "";
      find("");
    } else if (event.key === "Escape") {
      if (typing) canvas.focus();
      else out();
    } else if (!typing && event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (!typing && event.key === "0") zoom(null);
    else if (!typing && (event.key === "n" || event.key === "N")) next(event.key === "n" ? 1 : -1);
    else if (typing && event.key === "Enter") next(event.shiftKey ? -1 : 1);
  });
  search.addEventListener("input", () => find(search.value));
  get("back").addEventListener("click", out);
  get("all").addEventListener("click", () => zoom(null));
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
