// Pictures of products: a rosette as on a banknote, whose form comes from the id, and the sign of the type.

const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/** A number that the same text always has (FNV-1a). */
function digest(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0), 16777619) >>> 0;
  return value;
}

/** A closed curve that waves around a circle. */
function rosette(waves, depth, turn) {
  const points = [];
  for (let step = 0; step <= 360; step += 1) {
    const angle = (step / 180) * Math.PI;
    const radius = 44 * (1 - depth + depth * Math.cos(waves * angle + turn));
    points.push(`${(60 + 1.3 * radius * Math.cos(angle)).toFixed(1)} ${(50 + radius * Math.sin(angle)).toFixed(1)}`);
  }
  return `M${points.join("L")}Z`;
}

/** The sign of a type, or of another symbol of the page. */
export const sign = (id) =>
  svg("svg", { "aria-hidden": "true", class: "sign" }, svg("use", { href: `#${id}` }));

/** The picture of a product. */
export function picture({ id, type }) {
  const number = digest(id);
  const waves = 7 + (number % 7);
  const depth = 0.2 + ((number >>> 8) % 5) / 25;
  const curves = [0, 1, 2, 3, 4, 5].map((turn) =>
    svg("path", { d: rosette(waves, depth, (turn * Math.PI) / 3) }));
  const known = document.getElementById(type) ? type : "nonConsumable";
  return svg("svg", { "aria-hidden": "true", class: "picture", viewBox: "0 0 120 100", preserveAspectRatio: "xMidYMid slice" },
    svg("g", { class: "rosette" }, ...curves), svg("circle", { cx: 60, cy: 50, r: 21, class: "disc" }),
    svg("use", { href: `#${known}`, x: 45, y: 35, width: 30, height: 30 }));
}
