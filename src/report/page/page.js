"use strict";
(() => {
  const units = {
    count: [[1, ""]],
    bytes: [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]],
    ms: [[1, "ms"], [1e3, "s"], [6e4, "min"], [3.6e6, "h"]],
    ns: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
    percent: [[1, "%"]],
  };
  const words = (unit, value) => {
    const [by, name] = units[unit].filter(([from]) => Math.abs(value) >= from).pop() || units[unit][0];
    const number = (value / by).toLocaleString("en", { maximumFractionDigits: by === 1 && unit !== "percent" ? 0 : 2 });
    return (number + " " + name).trim();
  };
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };

  // Strategies are switched on and off everywhere at once.
  const off = new Set();
  const listeners = [];
  const show = () => {
    document.querySelectorAll("[data-series]").forEach((of) => of.classList.toggle("off", off.has(of.dataset.series)));
    listeners.forEach((listener) => listener());
  };
  document.querySelectorAll(".switches input").forEach((box) => {
    box.addEventListener("change", () => {
      box.checked ? off.delete(box.value) : off.add(box.value);
      document.querySelectorAll(".switches input").forEach((other) => {
        if (other.value === box.value) other.checked = box.checked;
      });
      show();
    });
  });

  // Tables sort by a click on a column, or Enter on it.
  document.querySelectorAll("table.sorts").forEach((table) => {
    const body = table.tBodies[0];
    table.querySelectorAll("thead button").forEach((button, column) => {
      button.addEventListener("click", () => {
        const head = button.parentElement;
        const down = head.getAttribute("aria-sort") !== "descending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
          return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
        };
        const compare = (a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === "" || y === "") return (x === "") - (y === "");
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return down ? -order : order;
        };
        [...body.rows].sort(compare).forEach((row) => body.append(row));
      });
    });
  });

  // Values where somebody points, or goes with the arrow keys.
  document.querySelectorAll("figure[data-hover]").forEach((figure) => {
    const { x, y, lines } = JSON.parse(figure.dataset.hover);
    const svg = figure.querySelector("svg");
    const said = figure.querySelector(".values");
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    svg.append(cursor);
    const place = (axis, value) => {
      const part = axis.log
        ? Math.log(value / axis.low) / Math.log(axis.high / axis.low)
        : (value - axis.low) / (axis.high - axis.low);
      return axis.from + part * (axis.to - axis.from);
    };
    const at = (axis, where) => {
      const part = Math.min(1, Math.max(0, (where - axis.from) / (axis.to - axis.from)));
      return axis.log ? axis.low * (axis.high / axis.low) ** part : axis.low + part * (axis.high - axis.low);
    };
    const valueOf = (line, value) => {
      const after = line.points.findIndex((point) => point[0] > value);
      const index = (after < 0 ? line.points.length : after) - 1;
      if (index < 0) return undefined;
      const [before, next] = [line.points[index], line.points[index + 1]];
      if (line.steps || !next || next[0] === before[0]) return before[1];
      return before[1] + ((value - before[0]) / (next[0] - before[0])) * (next[1] - before[1]);
    };
    let value = x.low;
    const say = () => {
      cursor.setAttribute("d", `M${place(x, value)} ${y.to}V${y.from}`);
      const values = lines.filter((line) => !off.has(line.name)).map((line) => {
        const found = valueOf(line, value);
        return `${line.name} ${found === undefined ? "–" : words(y.unit, found)}`;
      });
      said.textContent = `${words(x.unit, value)}: ${values.join(" · ")}`;
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      value = at(x, ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width);
      say();
    });
    figure.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!steps) return;
      event.preventDefault();
      value = at(x, place(x, value) + steps * 8);
      say();
    });
    listeners.push(() => { if (said.textContent) say(); });
  });
  document.querySelectorAll("figure:not([data-hover])").forEach((figure) => {
    const said = figure.querySelector(".values");
    figure.querySelectorAll(".part").forEach((part) => {
      part.addEventListener("pointerenter", () => { said.textContent = part.querySelector("title").textContent; });
    });
  });

  // Bumps, with what each came from.
  document.querySelectorAll("section[data-bumps]").forEach((section) => {
    const bumps = JSON.parse(section.querySelector("script").textContent);
    const body = section.querySelector("tbody");
    const count = section.querySelector(".count");
    const more = section.querySelector("button.plain");
    const fields = [...section.querySelectorAll("[name]")];
    const kinds = {
      all: () => true,
      topics: (bump) => bump.cells.cause.split(";").includes("refresh"),
      idle: (bump) => bump.cells.assignment_changed === "false",
      needless: (bump) => bump.cells.needless === "true",
    };
    let limit = 50;
    const columns = ["time_ms", "strategy", "kind", "group", "old_epoch", "new_epoch", "cause", "topic", "field", "event", "delay_ms", "assignment_changed", "needless"];
    const draw = () => {
      const wanted = Object.fromEntries(fields.map((field) => [field.name, field.value]));
      const found = bumps.filter((bump) => !off.has(bump.cells.strategy) && kinds[wanted.kind](bump)
        && (!wanted.strategy || bump.cells.strategy === wanted.strategy)
        && (!wanted.group || bump.cells.group.includes(wanted.group)));
      body.replaceChildren();
      found.slice(0, limit).forEach((bump, index) => {
        const row = element("tr");
        columns.forEach((column, place) => {
          const cell = element("td", undefined, place > 0 && !/_ms|epoch/.test(column) ? { class: "text" } : {});
          if (place > 0) {
            cell.textContent = bump.cells[column];
          } else {
            const id = `${section.id}-${index}`;
            const button = element("button", bump.cells.time_ms, {
              type: "button", "aria-expanded": "false", "aria-controls": id,
              "aria-label": `Why, at ${bump.cells.time_ms} ms, group ${bump.cells.group}, ${bump.cells.strategy}`,
            });
            button.addEventListener("click", () => {
              const open = button.getAttribute("aria-expanded") === "true";
              button.setAttribute("aria-expanded", String(!open));
              if (open) { row.nextSibling.remove(); return; }
              const why = element("tr", undefined, { class: "why", id });
              const words = element("td", undefined, { colspan: columns.length });
              const list = element("ol");
              bump.why.forEach((step) => list.append(element("li", step)));
              words.append(list);
              why.append(words);
              row.after(why);
            });
            cell.append(button);
          }
          row.append(cell);
        });
        body.append(row);
      });
      count.textContent = `${found.length.toLocaleString("en")} bumps`;
      more.hidden = found.length <= limit;
    };
    fields.forEach((field) => field.addEventListener("input", () => { limit = 50; draw(); }));
    more.addEventListener("click", () => { limit += 200; draw(); });
    listeners.push(draw);
    draw();
  });
})();
