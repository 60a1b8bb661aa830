import { encodeModel } from '../onnx/encode.ts'
import { buildMiniFasNet, type MiniFasNetArchitecture } from './minifasnet.ts'
import { readStateDict } from './state-dict.ts'

/**
 * The ONNX file of a network whose weights PyTorch wrote: the same bytes from the same weights.
 *
 * @throws Error that names `place` and says why its weights are not that network's.
 */
export function convertPytorch(
  architecture: MiniFasNetArchitecture,
  bytes: Uint8Array,
  place: string,
): Uint8Array {
  const dict = readStateDict(bytes, place)
  try {
    return encodeModel(buildMiniFasNet(architecture, dict))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${place} holds no ${architecture}: ${reason}`, { cause })
  }
}
