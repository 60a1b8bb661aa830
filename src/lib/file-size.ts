import { stat } from 'node:fs/promises'

/** Returns the size of a file in bytes; 0 when it does not exist. */
export function fileSize(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
