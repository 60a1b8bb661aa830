/** Styles of the component. The custom properties can be set on the element. */
export const styleSheetText = `
:host { display: block; color-scheme: light dark; }
.check {
  max-width: var(--liveness-width, 30rem); margin: 0 auto; font: inherit; text-align: center;
  color: var(--liveness-color, CanvasText); background: var(--liveness-background, Canvas);
}
.stage { position: relative; aspect-ratio: 4 / 3; max-height: 80vh; overflow: hidden; border-radius: 0.75rem; background: #10161d; }
.stage[data-orientation='portrait'] { aspect-ratio: 3 / 4; }
.video { width: 100%; height: 100%; object-fit: cover; transform: scaleX(-1); }
.video[data-facing='environment'] { transform: none; }
.oval {
  position: absolute; top: 50%; left: 50%; height: 80%; aspect-ratio: 3 / 4; max-width: 80%;
  box-sizing: border-box; transform: translate(-50%, -50%); border: 3px solid #fff; border-radius: 50%;
  box-shadow: 0 0 0 100vmax rgb(16 22 29 / 55%);
}
.arrow {
  position: absolute; inset: 0; display: none; place-content: center; color: #fff;
  font-size: 5rem; line-height: 1; text-shadow: 0 0 0.5rem #000;
}
[data-state='recording'] .arrow { display: grid; }
.bar { width: 100%; margin-top: 0.75rem; visibility: hidden; accent-color: var(--liveness-accent, #1f6f5c); }
[data-state='recording'] .bar { visibility: visible; }
.instruction { margin: 0.5rem 0 0.25rem; font-size: 1.25rem; font-weight: 600; }
.hint { min-height: 1.5em; margin: 0; font-weight: 600; }
.details { min-height: 1.5em; margin: 0; }
.buttons { display: flex; gap: 0.75rem; justify-content: center; margin-top: 0.75rem; }
.cameras { display: flex; gap: 0.5rem; align-items: center; justify-content: center; margin-top: 0.75rem; }
.select { min-width: 0; min-height: 2.75rem; font: inherit; }
.check:focus { outline: none; }
button {
  min-height: 2.75rem; padding: 0 1.25rem; border: 1px solid currentColor; border-radius: 0.5rem;
  font: inherit; color: inherit; background: transparent; cursor: pointer;
}
.start { color: #fff; border-color: transparent; background: var(--liveness-accent, #1f6f5c); }
button:focus-visible, .select:focus-visible { outline: 3px solid var(--liveness-accent, #1f6f5c); outline-offset: 2px; }
[hidden] { display: none; }
@media (prefers-reduced-motion: no-preference) {
  .arrow { animation: point 0.9s ease-in-out infinite alternate; }
  @keyframes point { from { opacity: 0.45; } to { opacity: 1; } }
}
`
