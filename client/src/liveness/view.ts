import type { LivenessProblem, LivenessStep, LivenessVerdict } from './liveness-check.ts'
import { styleSheetText } from './style.ts'
import type { LivenessTexts } from './texts.ts'

/** The elements of the component, in a shadow root: styles of the page do not apply to them. */
export type LivenessView = {
  readonly video: HTMLVideoElement
  /** Shows the introduction and waits for the start button. */
  readonly showIntroduction: () => Promise<void>
  readonly showProgress: (state: 'openingCamera' | 'checking') => void
  /** Shows an instruction; undefined for the frontal picture before the first step. */
  readonly showStep: (step: LivenessStep | undefined, index: number, count: number) => void
  readonly showPassed: () => void
  /** Shows why an attempt failed and waits for the retry button. */
  readonly showProblem: (problem: LivenessProblem, verdict?: LivenessVerdict) => Promise<void>
  readonly onClose: (listener: () => void) => void
  readonly remove: () => void
}

const arrows: Readonly<Record<LivenessStep, string>> = {
  turnLeft: '←',
  turnRight: '→',
  lookUp: '↑',
  lookDown: '↓',
}

/** Creates the component inside `container`. */
export function createView(container: HTMLElement, texts: LivenessTexts): LivenessView {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [createStyleSheet()]
  const parts = createParts(texts)
  root.append(parts.section)
  container.append(host)
  const { section, video, arrow, instruction, details, bar, start } = parts
  const show = (state: string, text: string, detail = ''): void => {
    section.dataset['state'] = state
    instruction.textContent = text
    details.textContent = detail
    start.hidden = state !== 'introduction' && state !== 'problem'
  }
  const waitForStart = (label: string): Promise<void> => {
    start.textContent = label
    start.focus()
    return new Promise((resolve) =>
      start.addEventListener('click', () => resolve(), { once: true }),
    )
  }
  return {
    video,
    showIntroduction: () => {
      show('introduction', texts.title, texts.introduction)
      return waitForStart(texts.start)
    },
    showProgress: (state) => show(state, texts[state]),
    showStep: (step, index, count) => {
      show('recording', instructionOf(step, texts), progressText(step, index, count, texts))
      arrow.textContent = step === undefined ? '' : arrows[step]
      bar.max = count + 1
      bar.value = step === undefined ? 0 : index + 1
    },
    showPassed: () => show('passed', texts.passed),
    showProblem: (problem, verdict) => {
      show('problem', texts.problems[problem], reasonsText(verdict, texts))
      return waitForStart(texts.retry)
    },
    onClose: (listener) => parts.close.addEventListener('click', listener),
    remove: () => host.remove(),
  }
}

function createParts(texts: LivenessTexts) {
  const section = element('section', 'check')
  section.setAttribute('aria-label', texts.title)
  const video = element('video', 'video')
  Object.assign(video, { muted: true, playsInline: true })
  video.setAttribute('aria-hidden', 'true')
  const arrow = element('div', 'arrow')
  arrow.setAttribute('aria-hidden', 'true')
  const stage = element('div', 'stage')
  stage.append(video, element('div', 'oval'), arrow)
  const bar = element('progress', 'bar')
  bar.setAttribute('aria-label', texts.title)
  const message = element('div', 'message')
  message.setAttribute('role', 'status')
  message.setAttribute('aria-live', 'assertive')
  const instruction = element('p', 'instruction')
  const details = element('p', 'details')
  message.append(instruction, details)
  const start = button('start')
  const close = button('close')
  close.textContent = texts.close
  const buttons = element('div', 'buttons')
  buttons.append(start, close)
  section.append(stage, bar, message, buttons)
  return { section, video, arrow, instruction, details, bar, start, close }
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, className: string) {
  const created = document.createElement(name)
  created.className = className
  return created
}

function button(className: string): HTMLButtonElement {
  const created = element('button', className)
  created.type = 'button'
  return created
}

/** A constructed style sheet is not inline, so a Content-Security-Policy does not block it. */
function createStyleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styleSheetText)
  return sheet
}

function instructionOf(
  step: LivenessStep | undefined,
  { steps, lookStraight }: LivenessTexts,
): string {
  return step === undefined ? lookStraight : steps[step]
}

function progressText(
  step: LivenessStep | undefined,
  index: number,
  count: number,
  { progress }: LivenessTexts,
): string {
  if (step === undefined) return ''
  return progress.replace('{number}', String(index + 1)).replace('{count}', String(count))
}

/** Returns the texts of the causes or, without any, of all reasons that have one. */
function reasonsText(
  verdict: LivenessVerdict | undefined,
  { steps, causes, reasons }: LivenessTexts,
): string {
  const texts = (verdict?.causes ?? []).map(({ step, cause, degrees = 0, degreesMin = 0 }) => {
    const text = causes[cause]
      .replace('{degrees}', String(Math.round(degrees)))
      .replace('{degreesMin}', String(degreesMin))
    return step === null ? text : `${steps[step]}: ${text}`
  })
  if (texts.length > 0) return texts.join(' ')
  return (verdict?.reasons ?? []).flatMap((reason) => reasons[reason] ?? []).join(' ')
}
