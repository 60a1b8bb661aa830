import type { LivenessTexts } from './texts.ts'

/** Creates the elements of the component. Each is a part of the same name, for styles of the page. */
export function createParts(texts: LivenessTexts) {
  const section = element('section', 'check')
  section.setAttribute('aria-label', texts.title)
  section.tabIndex = -1
  const arrow = element('div', 'arrow')
  arrow.setAttribute('aria-hidden', 'true')
  const { stage, video } = createStage()
  stage.append(arrow)
  const bar = element('progress', 'bar')
  bar.setAttribute('aria-label', texts.title)
  const { message, instruction, hint, details } = createMessage()
  const start = element('button', 'start')
  start.type = 'button'
  const buttons = element('div', 'buttons')
  buttons.append(start)
  const select = element('select', 'select')
  const cameras = element('label', 'cameras')
  cameras.append(texts.camera, select)
  cameras.hidden = true
  section.append(stage, bar, message, buttons, cameras)
  return { section, video, arrow, instruction, hint, details, bar, start, cameras, select }
}

/** The picture of the camera. WebViews play it in place and without a touch only if it is muted. */
function createStage() {
  const video = element('video', 'video')
  Object.assign(video, { muted: true, playsInline: true })
  video.setAttribute('aria-hidden', 'true')
  const stage = element('div', 'stage')
  // A phone changes the size of its picture when it is turned.
  video.addEventListener('resize', () => {
    const isPortrait = video.videoHeight > video.videoWidth
    stage.dataset['orientation'] = isPortrait ? 'portrait' : 'landscape'
  })
  stage.append(video, element('div', 'oval'))
  return { stage, video }
}

/** The texts, which screen readers announce: instructions at once, hints after them. */
function createMessage() {
  const message = element('div', 'message')
  const instructions = element('div', 'instructions')
  instructions.setAttribute('role', 'status')
  instructions.setAttribute('aria-live', 'assertive')
  const instruction = element('p', 'instruction')
  const details = element('p', 'details')
  instructions.append(instruction, details)
  const hint = element('p', 'hint')
  hint.setAttribute('role', 'status')
  message.append(instructions, hint)
  return { message, instruction, hint, details }
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, className: string) {
  const created = document.createElement(name)
  created.className = className
  created.setAttribute('part', className)
  return created
}
