import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exceedsWebpFrames } from './webp-frames.ts'

/** Creates a file of chunks, which have their name as data of an odd length. */
function webpOf(names: readonly string[]): Buffer {
  const chunks = names.map((name) => `${name}\x03\0\0\0${name.slice(1)}\0`)
  return Buffer.from(`RIFF\0\0\0\0WEBP${chunks.join('')}`, 'latin1')
}

const repeat = (name: string, count: number) => Array<string>(count).fill(name)

test('The frames and the other chunks of a WebP are counted up to their limits', () => {
  assert.equal(exceedsWebpFrames(webpOf(['VP8X', ...repeat('ANMF', 5)]), 5), false)
  assert.equal(exceedsWebpFrames(webpOf(['VP8X', ...repeat('ANMF', 6)]), 5), true)
  assert.equal(exceedsWebpFrames(webpOf(repeat('junk', 116)), 5), false)
  assert.equal(exceedsWebpFrames(webpOf(repeat('junk', 117)), 5), true)
})

test('Frames within a frame are counted', () => {
  const nested = (count: number): Buffer => {
    const file = webpOf(['VP8X', 'ANMF', ...repeat('junk', 2), ...repeat('ANMF', count)])
    const frame = file.indexOf('ANMF')
    file.writeUInt32LE(file.length - frame - 8, frame + 4)
    // The head of a frame has 16 bytes.
    return Buffer.concat([file.subarray(0, frame + 8), Buffer.alloc(16), file.subarray(frame + 12)])
  }
  assert.equal(exceedsWebpFrames(nested(4), 5), false)
  assert.equal(exceedsWebpFrames(nested(5), 5), true)
})

test('A chunk whose length exceeds the file ends the scan', () => {
  const file = webpOf(['VP8X', ...repeat('ANMF', 6)])
  file.writeUInt32LE(0xff_ff_ff_ff, 16)
  assert.equal(exceedsWebpFrames(file, 5), false)
  assert.equal(exceedsWebpFrames(Buffer.from('RIFF....WEBP'), 5), false)
})
