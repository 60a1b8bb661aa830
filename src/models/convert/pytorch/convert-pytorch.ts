import { encodeModel } from '../onnx/encode.ts'
import { buildMiniFasNet, type MiniFasNetArchitecture } from './minifasnet.ts'
import { readStateDict } from './state-dict.ts'

/**
 * Converts PyTorch weights to an ONNX file. The same weights always result in the same bytes.
 *
 * @param fileName the name of the weights file, for error messages.
 * @throws Error that names the file and the reason why its weights do not fit the architecture.
 */
export function convertPytorch(
  architecture: MiniFasNetArchitecture,
  bytes: Uint8Array,
  fileName: string,
): Uint8Array {
  const dict = readStateDict(bytes, fileName)
  try {
    return encodeModel(buildMiniFasNet(architecture, dict))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${fileName} does not contain a ${architecture}: ${reason}`, { cause })
  }
}
