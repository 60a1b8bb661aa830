import { writeFile } from 'node:fs/promises'
import sharp from 'sharp'

/**
 * Writes `svg` to `file`; the extension selects the format: `.svg`, or `.png` to render it.
 *
 * @throws Error when the extension is neither.
 */
export async function writeSvg(file: string, svg: string): Promise<void> {
  if (/\.svg$/iu.test(file)) await writeFile(file, svg)
  else if (/\.png$/iu.test(file)) await sharp(Buffer.from(svg)).png().toFile(file)
  else throw new Error(`${file} is neither .svg nor .png`)
}
