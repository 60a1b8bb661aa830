import { useEffect, useRef } from 'react'

type Props = {
  readonly bitmap: ImageBitmap
  /** The maximum length of the longer side in pixels. */
  readonly sideMax: number
}

/** Draws an upright image. Unlike an img element, a canvas needs no URL for the pixels. */
export function ImageCanvas({ bitmap, sideMax }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const scale = Math.min(1, sideMax / Math.max(bitmap.width, bitmap.height))
  const width = Math.max(1, Math.round(bitmap.width * scale))
  const height = Math.max(1, Math.round(bitmap.height * scale))
  useEffect(() => {
    canvas.current?.getContext('2d')?.drawImage(bitmap, 0, 0, width, height)
  }, [bitmap, width, height])
  return <canvas ref={canvas} width={width} height={height} aria-hidden />
}
