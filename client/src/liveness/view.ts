import { rememberCamera, rememberedCamera } from './camera.ts'
import { isMovementHint, type Guidance } from './guidance.ts'
import type { JudgedAttempt, LivenessProblem, LivenessStep } from './liveness-check.ts'
import { styleSheetText } from './style.ts'
import type { LivenessTexts } from './texts.ts'
import { createParts } from './view-parts.ts'

/** What a text for the person is built from. */
type ShownOutcome = Partial<Pick<JudgedAttempt, 'causes' | 'reasons' | 'attemptsLeft'>>

/** The elements of the component, in a shadow root: styles of the page do not apply to them. */
export type LivenessView = {
  readonly video: HTMLVideoElement
  /** Shows the introduction and waits for the start button. */
  readonly showIntroduction: (signal: AbortSignal) => Promise<void>
  readonly showProgress: (state: 'openingCamera' | 'checking') => void
  /** Lets the person select one of several cameras. */
  readonly showCameras: (cameras: readonly MediaDeviceInfo[], selected: string | undefined) => void
  /** Shows an instruction; undefined for the frontal picture before the first step. */
  readonly showStep: (step: LivenessStep | undefined, index: number, count: number) => void
  /** Shows how far the present instruction is followed. */
  readonly showGuidance: (guidance: Guidance) => void
  readonly showPassed: () => void
  /** Shows why an attempt failed and waits for the retry button. */
  readonly showProblem: (
    problem: LivenessProblem,
    outcome: ShownOutcome,
    signal: AbortSignal,
  ) => Promise<void>
  /** Shows why the check failed, without another attempt. */
  readonly showEnd: (problem: LivenessProblem, outcome: ShownOutcome) => void
  readonly selectedCamera: () => string | undefined
  readonly onCameraChange: (listener: () => void, signal: AbortSignal) => void
}

const arrows: Readonly<Record<LivenessStep, string>> = {
  turnLeft: '←',
  turnRight: '→',
  lookUp: '↑',
  lookDown: '↓',
}

/** Creates the elements inside `root`, in place of earlier ones. */
export function createView(root: ShadowRoot, texts: LivenessTexts): LivenessView {
  root.adoptedStyleSheets = [createStyleSheet()]
  const parts = createParts(texts)
  const hadFocus = root.activeElement !== null
  root.replaceChildren(parts.section)
  const { arrow, hint, bar, start, select } = parts
  const show: ShowState = (state, text, detail = '') =>
    showState(root, parts, [state, text, detail])
  const showProblem = (problem: LivenessProblem, outcome: ShownOutcome, state: string): void =>
    show(state, texts.problems[problem], outcomeText(outcome, texts))
  return {
    video: parts.video,
    showIntroduction: (signal) => {
      show('introduction', texts.title, texts.introduction)
      return waitForClick(start, { label: texts.start, hasFocus: hadFocus, signal })
    },
    showProgress: (state) => show(state, texts[state]),
    showCameras: (cameras, selected) => showCameras(parts, cameras, selected),
    showStep: (step, index, count) => {
      show('recording', instructionOf(step, texts), progressText(step, index, count, texts))
      arrow.textContent = step === undefined ? '' : arrows[step]
      bar.max = count + 1
      bar.value = step === undefined ? 0 : index + 1
    },
    showGuidance: (guidance) => {
      setText(hint, hintText(guidance, texts))
      bar.value = Math.floor(bar.value) + Math.min(0.99, guidance.share)
    },
    showPassed: () => show('passed', texts.passed),
    showProblem: (problem, outcome, signal) => {
      showProblem(problem, outcome, 'problem')
      return waitForClick(start, { label: texts.retry, hasFocus: true, signal })
    },
    showEnd: (problem, outcome) => showProblem(problem, outcome, 'ended'),
    selectedCamera: () => select.value || rememberedCamera(),
    onCameraChange: (listener, signal) => {
      const change = (): void => {
        rememberCamera(select.value)
        listener()
      }
      select.addEventListener('change', change, { signal })
    },
  }
}

type ShowState = (state: string, text: string, detail?: string) => void

/** The state selects the styles and the visible elements. */
function showState(
  root: ShadowRoot,
  { section, instruction, details, hint, start }: ReturnType<typeof createParts>,
  [state, text, detail]: readonly [string, string, string],
): void {
  section.dataset['state'] = state
  setText(instruction, text)
  setText(details, detail)
  setText(hint, '')
  const hasFocus = root.activeElement === start
  start.hidden = state !== 'introduction' && state !== 'problem'
  // A hidden button loses the focus to the page.
  if (hasFocus && start.hidden) section.focus()
}

/** A constructed style sheet is not inline, so a Content-Security-Policy does not block it. */
function createStyleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styleSheetText)
  return sheet
}

/** A screen reader repeats a text that is set again. */
function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

type ClickOptions = {
  readonly label: string
  readonly hasFocus: boolean
  readonly signal: AbortSignal
}

function waitForClick(
  button: HTMLButtonElement,
  { label, hasFocus, signal }: ClickOptions,
): Promise<void> {
  button.textContent = label
  if (hasFocus) button.focus()
  return new Promise((resolve, reject) => {
    button.addEventListener('click', () => resolve(), { once: true, signal })
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function showCameras(
  { cameras: label, select }: ReturnType<typeof createParts>,
  cameras: readonly MediaDeviceInfo[],
  selected: string | undefined,
): void {
  label.hidden = cameras.length < 2
  const options = cameras.map(
    ({ deviceId, label: name }, index) => new Option(name || String(index + 1), deviceId),
  )
  select.replaceChildren(...options)
  select.value = selected ?? ''
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

function hintText({ hint }: Guidance, { guidance, lookStraight, causes }: LivenessTexts): string {
  if (hint === undefined) return guidance.good
  if (hint === 'lookStraight') return lookStraight
  return isMovementHint(hint) ? guidance[hint] : causes[hint]
}

/** Returns the texts of the causes or, without any, of all reasons that have one, and the attempts left. */
function outcomeText(outcome: ShownOutcome, texts: LivenessTexts): string {
  const { causes = [], reasons = [], attemptsLeft = 0 } = outcome
  const ofCauses = causes.map(({ step, cause, degrees = 0, degreesMin = 0, degreesMax = 0 }) => {
    const text = texts.causes[cause]
      .replace('{degrees}', String(Math.round(degrees)))
      .replace('{degreesMin}', String(degreesMin))
      .replace('{degreesMax}', String(degreesMax))
    return step === null ? text : `${texts.steps[step]}: ${text}`
  })
  const ofReasons = reasons.flatMap((reason) => texts.reasons[reason] ?? [])
  const left =
    attemptsLeft === 1
      ? texts.lastAttempt
      : texts.attemptsLeft.replace('{count}', String(attemptsLeft))
  return [
    ...(ofCauses.length > 0 ? ofCauses : ofReasons),
    ...(attemptsLeft > 0 ? [left] : []),
  ].join(' ')
}
