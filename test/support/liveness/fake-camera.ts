import type { Page } from 'playwright-core'

/** Text of an instruction → URLs of images. Before any text the first image of the first text is shown. */
export type CameraImages = Readonly<Record<string, readonly string[]>>

/** What the fake camera of a page shows for each instruction of the liveness component. */
export type CameraScene = {
  /** The views of a direction by increasing angle: each hint selects the next or the previous one. */
  readonly moving: CameraImages
  /** For `ignoreHints`: one view for the first time that the text appears, another for the second. */
  readonly still: CameraImages
}

/**
 * Replaces the camera of a page by a canvas. It shows a head that follows the instructions and the
 * hints on the page, moved slightly in each frame as before a real camera. `failCamera` in the page
 * selects an error of `getUserMedia` instead.
 */
export async function installFakeCamera(page: Page, scene: CameraScene): Promise<void> {
  await page.addInitScript({
    content: `{ const scene = ${JSON.stringify(scene)}; ${cameraScript} }`,
  })
}

/** Makes the head move by one angle for each instruction, until the page is loaded again. */
export async function ignoreHints(page: Page): Promise<void> {
  await page.evaluate((state) => Object.assign(globalThis, state), { areHintsIgnored: true })
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
  const toElements = (images) =>
    new Map(
      Object.entries(images).map(([key, urls]) => [
        key,
        urls.map((url) => Object.assign(new Image(), { src: url })),
      ]),
    )
  const moving = toElements(scene.moving)
  const still = toElements(scene.still)
  const [firstText] = still.keys()
  const findRoots = () => [...document.querySelectorAll('*')].flatMap((host) => host.shadowRoot ?? [])
  let place = 0
  let draw = () => {}
  const observed = new WeakSet()
  const followHints = (root) => {
    if (observed.has(root)) return
    observed.add(root)
    const move = () => {
      const hint = root.querySelector('.hint')?.textContent
      // A person moves faster far from the angle.
      const further = root.querySelector('.bar').value % 1 < 0.7 ? 4 : 1
      place += hint === 'A little further' ? further : hint === 'A little back' ? -1 : 0
      draw()
    }
    // The component sets the progress with each hint.
    new MutationObserver(move).observe(root, { subtree: true, attributeFilter: ['value'] })
  }
  const counts = new Map()
  let lastText = firstText
  const selectImage = () => {
    const roots = findRoots()
    roots.forEach(followHints)
    const texts = roots.map((root) => root.querySelector('.instruction')?.textContent)
    const shown = texts.find((text) => still.has(text)) ?? firstText
    if (shown !== lastText) {
      counts.set(shown, (counts.get(shown) ?? 0) + 1)
      place = 0
    }
    lastText = shown
    const text = globalThis.heldText ?? shown
    const stillViews = still.get(text)
    if (globalThis.areHintsIgnored)
      return stillViews[Math.max(0, (counts.get(shown) ?? 0) - 1) % stillViews.length]
    const views = moving.get(text) ?? stillViews
    return views[Math.min(Math.max(0, place), views.length - 1)]
  }
  const openCamera = () => {
    const size = globalThis.isPortrait ? { width: 480, height: 640 } : { width: 640, height: 480 }
    const canvas = Object.assign(document.createElement('canvas'), size)
    const context = canvas.getContext('2d')
    const [left, top] = [(size.width - 440) / 2, (size.height - 448) / 2]
    draw = () => {
      const image = selectImage()
      const side = 440 + Math.random()
      context.fillStyle = '#8a8f94'
      context.fillRect(0, 0, size.width, size.height)
      context.drawImage(image, left + Math.random(), top + Math.random(), side, side)
    }
    setInterval(draw, 40)
    // A busy machine plays the stream late: the pictures of the component show the canvas itself.
    const { drawImage } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.drawImage = function (source, ...place) {
      drawImage.call(this, source instanceof HTMLVideoElement ? canvas : source, ...place)
    }
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
