import type { PlaygroundRun, RunPicture } from '../run.ts'

/** A run with smaller copies of its pictures. */
export type KeptRun = PlaygroundRun & {
  /** The address of the thumbnail of the first picture, in the memory of the browser. */
  readonly thumbnailUrl: string | undefined
}

/** The longer side of a kept picture and of a thumbnail, in pixels. */
const pictureSideMax = 960
const thumbnailSideMax = 96

/** Copies the pictures of a run at a smaller size: the images of the form can be removed meanwhile. */
export async function keepRun(run: PlaygroundRun): Promise<KeptRun> {
  const pictures = await Promise.all(run.pictures.map(copyPicture))
  const first = pictures[0]?.bitmap
  return { ...run, pictures, thumbnailUrl: first && (await thumbnailUrlOf(first)) }
}

/** Frees the memory of the pictures of a run. */
export function releaseRun({ pictures, thumbnailUrl }: KeptRun): void {
  for (const { bitmap } of pictures) bitmap?.close()
  if (thumbnailUrl !== undefined) URL.revokeObjectURL(thumbnailUrl)
}

async function copyPicture(picture: RunPicture): Promise<RunPicture> {
  const { bitmap } = picture
  if (!bitmap) return picture
  const { width, height } = fitInto(bitmap, pictureSideMax)
  const copy = await createImageBitmap(bitmap, {
    resizeWidth: width,
    resizeHeight: height,
    resizeQuality: 'medium',
  })
  return { ...picture, bitmap: copy }
}

async function thumbnailUrlOf(bitmap: ImageBitmap): Promise<string> {
  const { width, height } = fitInto(bitmap, thumbnailSideMax)
  const canvas = new OffscreenCanvas(width, height)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, width, height)
  return URL.createObjectURL(await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.8 }))
}

function fitInto(
  { width, height }: { readonly width: number; readonly height: number },
  sideMax: number,
): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, sideMax / Math.max(width, height))
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
}
