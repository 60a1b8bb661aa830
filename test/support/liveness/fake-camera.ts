import type { Page } from 'playwright-core'

/** What the fake camera of a page shows: an image for each instruction of the liveness component. */
export type CameraScene = {
  /**
   * Text of an instruction → URLs of images: the first is shown for the first time that the text
   * appears, and so on. Before any text the first image of the first text is shown.
   */
  readonly images: Readonly<Record<string, readonly string[]>>
}

/**
 * Replaces the camera of a page by a canvas. It shows the image that belongs to the instruction on
 * the page, moved slightly in each frame as before a real camera. `failCamera` in the page selects an
 * error of `getUserMedia` instead.
 */
export async function installFakeCamera(page: Page, scene: CameraScene): Promise<void> {
  const images = JSON.stringify(scene.images)
  await page.addInitScript({ content: `{ const images = ${images}; ${cameraScript} }` })
}

/** Makes the next `getUserMedia` calls fail with the name of a DOMException; '' ends this. */
export async function failCamera(page: Page, name: string): Promise<void> {
  await page.evaluate((failure) => {
    ;(globalThis as unknown as CameraState).cameraFailure = failure
  }, name)
}

/** Shows the images of one text for every instruction, as a print does; undefined ends this. */
export async function holdText(page: Page, text: string | undefined): Promise<void> {
  await page.evaluate((held) => {
    ;(globalThis as unknown as CameraState).heldText = held
  }, text)
}

/**
 * Makes the head follow the hints of the component: the images of an instruction are then its views by
 * increasing angle, of which each hint selects the next or the previous one.
 */
export async function followHints(page: Page, images: CameraScene['images']): Promise<void> {
  await page.evaluate(`globalThis.showImages(${JSON.stringify(images)})`)
}

/** Returns the constraints of every camera request, as JSON. */
export function requestedCameras(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as CameraState).requestedCameras)
}

/** Makes the page list cameras; one with another deviceId is not found. Pictures are upright if asked. */
export async function setCameras(
  page: Page,
  deviceIds: readonly string[],
  { isPortrait = false } = {},
): Promise<void> {
  await page.evaluate((state) => Object.assign(globalThis, state), {
    cameraIds: deviceIds,
    isPortrait,
  })
}

type CameraState = {
  cameraFailure?: string
  heldText?: string | undefined
  requestedCameras: string[]
}

/** The script of the page, where the types of the DOM are not known to the tests. */
const cameraScript = `
  const toElements = (scene) =>
    new Map(
      Object.entries(scene).map(([key, urls]) => [
        key,
        urls.map((url) => Object.assign(new Image(), { src: url })),
      ]),
    )
  let elements = toElements(images)
  let place
  globalThis.showImages = (scene) => {
    elements = toElements(scene)
    place = 0
    const { shadowRoot } = document.querySelector('facegate-liveness')
    const move = () => {
      const hint = shadowRoot.querySelector('.hint').textContent
      place += hint === 'A little further' ? 1 : hint === 'A little back' ? -1 : 0
    }
    // The component sets the progress with each hint.
    const bar = shadowRoot.querySelector('.bar')
    new MutationObserver(move).observe(bar, { attributeFilter: ['value'] })
  }
  const [firstText] = elements.keys()
  const counts = new Map()
  let lastText = firstText
  const selectImage = () => {
    const roots = [...document.querySelectorAll('*')].flatMap((host) => host.shadowRoot ?? [])
    const texts = roots.map((root) => root.querySelector('.instruction')?.textContent)
    const shown = texts.find((text) => elements.has(text)) ?? firstText
    if (shown !== lastText) counts.set(shown, (counts.get(shown) ?? 0) + 1)
    if (shown !== lastText && place !== undefined) place = 0
    lastText = shown
    const views = elements.get(globalThis.heldText ?? shown)
    if (place !== undefined) return views[Math.min(Math.max(0, place), views.length - 1)]
    return views[Math.max(0, (counts.get(shown) ?? 0) - 1) % views.length]
  }
  const openCamera = () => {
    const size = globalThis.isPortrait ? { width: 480, height: 640 } : { width: 640, height: 480 }
    const canvas = Object.assign(document.createElement('canvas'), size)
    const context = canvas.getContext('2d')
    const [left, top] = [(size.width - 440) / 2, (size.height - 448) / 2]
    setInterval(() => {
      const image = selectImage()
      const side = 440 + 6 * Math.random()
      context.fillStyle = '#8a8f94'
      context.fillRect(0, 0, size.width, size.height)
      context.drawImage(image, left + 4 * Math.random(), top + 4 * Math.random(), side, side)
    }, 40)
    return canvas.captureStream(25)
  }
  globalThis.requestedCameras = []
  globalThis.cameraIds = ['first']
  navigator.mediaDevices.enumerateDevices = async () =>
    globalThis.cameraIds.map((deviceId) => ({ kind: 'videoinput', deviceId, label: deviceId }))
  navigator.mediaDevices.getUserMedia = async ({ video }) => {
    globalThis.requestedCameras.push(JSON.stringify(video))
    const selected = video.deviceId?.exact
    if (selected !== undefined && !globalThis.cameraIds.includes(selected))
      throw new DOMException('no such camera', 'OverconstrainedError')
    if (globalThis.cameraFailure) throw new DOMException('not available', globalThis.cameraFailure)
    return openCamera()
  }
`
