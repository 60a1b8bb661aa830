import { useEffect, useRef } from 'react'
import type { ActionValues } from '../playground/result/action-values.ts'
import type { RunPicture } from '../playground/run.ts'
import { alignmentOf } from './align-face.ts'

type Props = {
  readonly picture: RunPicture
  readonly face: ActionValues['svc.verify']['probe']
  readonly index: number
}

const sidePx = 140

/** The compared face, rotated and scaled so that its eyes are at fixed places. */
export function AlignedFace({ picture: { bitmap }, face, index }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { leftEye, rightEye } = face.landmarks ?? {}
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !bitmap || !leftEye || !rightEye) return
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.clearRect(0, 0, sidePx, sidePx)
    context.setTransform(...alignmentOf(leftEye, rightEye, sidePx))
    context.drawImage(bitmap, 0, 0)
  }, [bitmap, leftEye, rightEye])
  if (!bitmap || !leftEye || !rightEye) return null
  return (
    <canvas
      ref={canvas}
      width={sidePx}
      height={sidePx}
      style={{ border: '1px solid var(--fg-border)' }}
      // A canvas has no element with this role that could replace it.
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
      role="img"
      aria-label={`Aligned face of image ${index}`}
    />
  )
}
