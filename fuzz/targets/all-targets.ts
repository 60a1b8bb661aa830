import { base64, imageHeader } from './images.ts'
import { manifest, onnx, pickle, pytorch } from './models.ts'
import { faceApi, tensorflow } from './networks.ts'
import { apiKey, call, cursor, json, multipart, query } from './requests.ts'
import type { FuzzTarget } from './target.ts'

export const allTargets: readonly FuzzTarget[] = [
  imageHeader,
  base64,
  json,
  call,
  multipart,
  query,
  cursor,
  apiKey,
  pickle,
  pytorch,
  onnx,
  tensorflow,
  faceApi,
  manifest,
]

/** @throws Error that lists the names of the targets. */
export function findTarget(name: string): FuzzTarget {
  const target = allTargets.find((each) => each.name === name)
  if (target) return target
  const names = allTargets.map((each) => each.name).join(', ')
  throw new Error(`there is no target ${name}; the targets are ${names}`)
}
