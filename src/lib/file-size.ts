import { stat } from 'node:fs/promises'

/** @returns bytes; 0 for a file that is not there. */
export function fileSize(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
