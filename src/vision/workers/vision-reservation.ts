import type { ImageAnalysis } from '../image-analysis.ts'
import type { EncodedImage } from '../image/input/encoded-image.ts'
import { judgeChallenge } from '../liveness/challenge/judge-challenge.ts'
import type { VisionReservation } from '../vision-client.ts'
import type { AnalysisJob } from './ipc/messages.ts'

export type VisionReservationOptions = {
  readonly images: readonly Pick<EncodedImage, 'bytes'>[]
  /** Runs the job in the place with this index. */
  readonly analyze: (job: AnalysisJob, index: number) => Promise<ImageAnalysis>
  /** Called once, when the reservation is disposed. */
  readonly onDisposed: () => void
}

/** Distributes reserved places to the images of one call. */
export function createVisionReservation({
  images,
  analyze,
  onDisposed,
}: VisionReservationOptions): VisionReservation {
  // Places of images of one size are interchangeable.
  const unused = images.map(({ bytes }, index) => ({ size: bytes.length, index }))
  const disposed = Promise.withResolvers<never>()
  // An analysis that has ended does not await the promise.
  disposed.promise.catch(() => undefined)
  let runningCount = 0

  const analyzeImage: VisionReservation['analyzeImage'] = async (image, request, { path }) => {
    const position = unused.findIndex(({ size }) => size === image.bytes.length)
    const [place] = position < 0 ? [] : unused.splice(position, 1)
    if (!place) throw new Error(`${path}: no place was reserved for this image`)
    runningCount += 1
    const analysis = analyze({ image, request, path }, place.index).finally(() => {
      runningCount -= 1
    })
    return Promise.race([disposed.promise, analysis])
  }

  function dispose(): void {
    // The stack trace of an error takes longer than the rest of this function.
    if (runningCount > 0) disposed.reject(new Error('the call has ended'))
    onDisposed()
  }

  const assertRoom = () => undefined
  const client = { analyzeImage, assertRoom, judgeChallenge }
  const reserve = () => ({ ...client, reserve, [Symbol.dispose]: () => undefined })
  return { ...client, reserve, [Symbol.dispose]: dispose }
}
