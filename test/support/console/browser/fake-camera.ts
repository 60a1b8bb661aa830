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

type CameraState = { cameraFailure?: string; heldText?: string | undefined }

/** The script of the page, where the types of the DOM are not known to the tests. */
const cameraScript = `
  const elements = new Map(
    Object.entries(images).map(([key, urls]) => [
      key,
      urls.map((url) => Object.assign(new Image(), { src: url })),
    ]),
  )
  const [firstText] = elements.keys()
  const counts = new Map()
  let lastText = firstText
  const selectImage = () => {
    const roots = [...document.querySelectorAll('*')].flatMap((host) => host.shadowRoot ?? [])
    const texts = roots.map((root) => root.querySelector('.instruction')?.textContent)
    const shown = texts.find((text) => elements.has(text)) ?? firstText
    if (shown !== lastText) counts.set(shown, (counts.get(shown) ?? 0) + 1)
    lastText = shown
    const views = elements.get(globalThis.heldText ?? shown)
    return views[Math.max(0, (counts.get(shown) ?? 0) - 1) % views.length]
  }
  const openCamera = () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 })
    const context = canvas.getContext('2d')
    setInterval(() => {
      const image = selectImage()
      const side = 440 + 6 * Math.random()
      context.fillStyle = '#8a8f94'
      context.fillRect(0, 0, 640, 480)
      context.drawImage(image, 100 + 4 * Math.random(), 16 + 4 * Math.random(), side, side)
    }, 40)
    return canvas.captureStream(25)
  }
  navigator.mediaDevices.getUserMedia = async () => {
    if (globalThis.cameraFailure) throw new DOMException('not available', globalThis.cameraFailure)
    return openCamera()
  }
`
