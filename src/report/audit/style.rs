//! How the page of an audit looks: on a screen by day and by night, and on paper.

pub(super) const CSS: &str = "
:root { color-scheme: light dark; --ink: #1d232a; --paper: #fff; --soft: #f2f4f7; --line: #c9d0d9; --dim: #55606d;
  --good: #0b6b3a; --bad: #a4161a; --open: #7a5200; --one: #1f5fa8; --two: #8a3ffc; --store: #0b6b3a; --base: #7a5200; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --paper: #14181d; --soft: #1d232a; --line: #3c4652;
  --dim: #a3adba; --good: #5bd08f; --bad: #ff8f8f; --open: #f0c35a; --one: #7db4f5; --two: #c6a2ff; --store: #5bd08f;
  --base: #f0c35a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
a { color: var(--one); } :focus-visible { outline: 3px solid var(--one); outline-offset: 2px; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 600; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: 1.25rem 0; }
.dim { color: var(--dim); margin: .25rem 0; }
.holds { color: var(--good); font-weight: 600; white-space: nowrap; } .fails { color: var(--bad); font-weight: 600; }
.open { color: var(--open); font-weight: 600; white-space: nowrap; }
summary { cursor: pointer; font-weight: 600; margin-top: .5rem; }
nav td:first-child { min-width: 9rem; }
svg { display: block; min-width: 38rem; max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .place { fill: var(--dim); font: 11px ui-monospace, monospace; }
svg .head { font-weight: 600; } svg .rail { stroke: var(--line); stroke-width: 2; }
svg .arrow { stroke: var(--dim); stroke-width: 1.2; fill: none; } svg .harm { fill: var(--bad); font-weight: 600; }
svg .a0 { fill: var(--one); } svg .a1 { fill: var(--two); } svg .a2 { fill: var(--store); } svg .a3 { fill: var(--base); }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } article { break-inside: avoid; border-color: #999; }
  .skip { display: none; } a { color: inherit; text-decoration: none; } svg { break-inside: avoid; min-width: 0; }
  :root { --ink: #000; --paper: #fff; --soft: #fff; --line: #999; --dim: #333; --good: #064; --bad: #900; --open: #640;
  --one: #036; --two: #406; --store: #064; --base: #640; } }
";
