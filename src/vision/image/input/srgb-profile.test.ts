import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import sharp from 'sharp'
import { isSrgbProfile } from './srgb-profile.ts'

async function readProfile(name: string): Promise<Buffer> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
  const { icc } = await sharp(await pixel.withIccProfile(name).png().toBuffer()).metadata()
  assert.ok(icc)
  return icc
}

/** Returns a copy of a profile, changed at the content of a tag. */
function change(profile: Buffer, tag: string, edit: (content: Buffer) => void): Buffer {
  const copy = Buffer.from(profile)
  const entry = copy.indexOf(tag, 128, 'latin1')
  const start = copy.readUInt32BE(entry + 4)
  edit(copy.subarray(start, start + copy.readUInt32BE(entry + 8)))
  return copy
}

/** A profile of the primaries of sRGB with curves that are a table of values. */
function withTable(profile: Buffer, light: (encoded: number) => number): Buffer {
  const values = 1024
  const table = Buffer.alloc(12 + 2 * values)
  table.write('curv', 'latin1')
  table.writeUInt32BE(values, 8)
  for (let index = 0; index < values; index++)
    table.writeUInt16BE(Math.round(65_535 * light(index / (values - 1))), 12 + 2 * index)
  const changed = Buffer.concat([profile, table])
  for (const tag of ['rTRC', 'gTRC', 'bTRC']) {
    const entry = changed.indexOf(tag, 128, 'latin1')
    changed.writeUInt32BE(profile.length, entry + 4)
    changed.writeUInt32BE(table.length, entry + 8)
  }
  return changed
}

const srgbLight = (encoded: number): number =>
  encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4

test('A profile of sRGB is recognized by its primaries and curves', async () => {
  const srgb = await readProfile('srgb')
  assert.equal(isSrgbProfile(srgb), true)
  assert.equal(isSrgbProfile(withTable(srgb, srgbLight)), true)
  assert.equal(isSrgbProfile(await readProfile('p3')), false)
  assert.equal(isSrgbProfile(withTable(srgb, (encoded) => encoded ** 2.2)), false)
  assert.equal(isSrgbProfile(withTable(srgb, (encoded) => encoded)), false)
})

test('A primary may differ by 0.001', async () => {
  const srgb = await readProfile('srgb')
  const shifted = (by: number) =>
    change(srgb, 'gXYZ', (content) => content.writeInt32BE(Math.round((0.3851 + by) * 65_536), 8))
  assert.equal(isSrgbProfile(shifted(0.0009)), true)
  assert.equal(isSrgbProfile(shifted(0.0011)), false)
})

test('A profile with a table of colours needs a conversion', async () => {
  const srgb = await readProfile('srgb')
  const renamed = Buffer.from(srgb)
  renamed.write('A2B0', renamed.indexOf('cprt', 128, 'latin1'), 'latin1')
  assert.equal(isSrgbProfile(renamed), false)
})

test('A damaged profile is not one of sRGB, and never an error', async () => {
  const srgb = await readProfile('srgb')
  for (let length = 0; length < srgb.length; length += 4)
    assert.equal(typeof isSrgbProfile(srgb.subarray(0, length)), 'boolean')
  assert.equal(isSrgbProfile(srgb.subarray(0, 200)), false)
  const places = fc.integer({ min: 128, max: srgb.length - 1 })
  fc.assert(
    fc.property(places, fc.integer({ min: 0, max: 255 }), (place, value) => {
      const damaged = Buffer.from(srgb)
      damaged[place] = value
      assert.equal(typeof isSrgbProfile(damaged), 'boolean')
    }),
  )
})
