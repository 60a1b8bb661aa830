import { LivenessError } from './liveness-check.ts'

/** An open camera that shows its picture in a video element. */
export type Camera = {
  /** Takes the current picture, not mirrored. */
  readonly takeFrame: () => CameraFrame
  /** Whether the camera still delivers pictures. */
  readonly isRunning: () => boolean
  readonly deviceId: string | undefined
  readonly close: () => void
}

/** One picture of the camera and its sharpness, which compares pictures of one camera. */
export type CameraFrame = { readonly canvas: HTMLCanvasElement; readonly sharpness: number }

/** Longer side of a frame in pixels: faces stay large enough for templates, uploads stay small. */
const frameSideMax = 960
/** Longer side of the copy that sharpness is measured on. */
const sharpnessSide = 160

/**
 * Opens the selected camera, or else the front camera, and plays it in `video`. The picture of a front
 * camera is mirrored on the page, as people expect.
 *
 * @throws LivenessError insecurePage, cameraUnsupported, cameraRefused, cameraMissing or cameraBusy.
 */
export async function openCamera(
  video: HTMLVideoElement,
  selected: string | undefined,
): Promise<Camera> {
  const stream = await requestStream(selected)
  const close = (): void => {
    for (const track of stream.getTracks()) track.stop()
    video.srcObject = null
  }
  video.srcObject = stream
  try {
    await video.play()
  } catch (cause) {
    close()
    throw new LivenessError('cameraBusy', { cause })
  }
  const { deviceId, facingMode } = stream.getVideoTracks()[0]?.getSettings() ?? {}
  video.dataset['facing'] = facingMode ?? 'user'
  return {
    takeFrame: () => takeFrame(video),
    isRunning: () => stream.getTracks().every(({ readyState }) => readyState === 'live'),
    deviceId,
    close,
  }
}

/** Lists the cameras. Browsers name them only after the camera was allowed. */
export async function listCameras(): Promise<MediaDeviceInfo[]> {
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices.filter(({ kind, deviceId }) => kind === 'videoinput' && deviceId !== '')
}

const selectedCameraKey = 'facegate-liveness-camera'

/** Stores the camera that the person has selected, for later visits. */
export function rememberCamera(deviceId: string): void {
  try {
    localStorage.setItem(selectedCameraKey, deviceId)
  } catch {
    // Without storage, the choice applies until the page is closed.
  }
}

/** Returns the camera that the person has selected on an earlier visit. */
export function rememberedCamera(): string | undefined {
  try {
    return localStorage.getItem(selectedCameraKey) ?? undefined
  } catch {
    return undefined
  }
}

const frameSize = { width: { ideal: 1280 }, height: { ideal: 720 } } as const

async function requestStream(selected: string | undefined): Promise<MediaStream> {
  // Pages over plain http have no `mediaDevices`, and some WebViews neither.
  if (!window.isSecureContext) throw new LivenessError('insecurePage')
  if (!navigator.mediaDevices?.getUserMedia) throw new LivenessError('cameraUnsupported')
  try {
    if (selected !== undefined)
      try {
        return await requestVideo({ deviceId: { exact: selected } })
      } catch (error) {
        // The selected camera is not connected.
        if (problemOf(error) !== 'cameraMissing') throw error
      }
    return await requestVideo({ facingMode: 'user' })
  } catch (cause) {
    throw new LivenessError(problemOf(cause), { cause })
  }
}

function requestVideo(selection: MediaTrackConstraints): Promise<MediaStream> {
  const video = { ...selection, ...frameSize }
  return navigator.mediaDevices.getUserMedia({ audio: false, video })
}

function problemOf(cause: unknown): 'cameraRefused' | 'cameraMissing' | 'cameraBusy' {
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'cameraRefused'
  return name === 'NotFoundError' || name === 'OverconstrainedError'
    ? 'cameraMissing'
    : 'cameraBusy'
}

function takeFrame(video: HTMLVideoElement): CameraFrame {
  const canvas = drawScaled(video, frameSideMax)
  return { canvas, sharpness: sharpnessOf(video) }
}

function drawScaled(video: HTMLVideoElement, sideMax: number): HTMLCanvasElement {
  const { videoWidth, videoHeight } = video
  const scale = Math.min(1, sideMax / Math.max(videoWidth, videoHeight))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(videoWidth * scale))
  canvas.height = Math.max(1, Math.round(videoHeight * scale))
  contextOf(canvas).drawImage(video, 0, 0, canvas.width, canvas.height)
  return canvas
}

/**
 * Returns the variance of the Laplacian of the luma in the middle of the picture, where the face is:
 * motion blur lowers it.
 */
function sharpnessOf(video: HTMLVideoElement): number {
  const canvas = drawScaled(video, sharpnessSide)
  const { width, height } = canvas
  const luma = lumaOf(contextOf(canvas).getImageData(0, 0, width, height).data)
  const at = (x: number, y: number): number => luma[y * width + x] ?? 0
  let [sum, squares, count] = [0, 0, 0]
  for (let y = Math.ceil(height / 8); y < (height * 7) / 8 - 1; y++)
    for (let x = Math.ceil(width / 4); x < (width * 3) / 4 - 1; x++) {
      const value = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y)
      sum += value
      squares += value * value
      count++
    }
  return count === 0 ? 0 : squares / count - (sum / count) ** 2
}

/** @param pixels RGBA, 0..255. */
function lumaOf(pixels: Uint8ClampedArray): Float32Array {
  const luma = new Float32Array(pixels.length / 4)
  for (const index of luma.keys())
    luma[index] =
      0.299 * (pixels[4 * index] ?? 0) +
      0.587 * (pixels[4 * index + 1] ?? 0) +
      0.114 * (pixels[4 * index + 2] ?? 0)
  return luma
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) throw new LivenessError('cameraBusy')
  return context
}

const jpegQuality = 0.9

/** Encodes a frame as JPEG. */
export function encodeFrame({ canvas }: CameraFrame): Promise<Blob> {
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new LivenessError('cameraBusy'))),
      'image/jpeg',
      jpegQuality,
    ),
  )
}
