import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMultipartFiles } from './multipart.ts'

/** A form with one file, and a boundary as libraries make it. */
function formOf(boundary: string, parts = 1): Buffer {
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n`
  return Buffer.concat([
    ...Array.from({ length: parts }, () => Buffer.from(`${part}\xff\xd8\0\r\n`, 'latin1')),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

const file = Buffer.from([0xff, 0xd8, 0])

test('files come out as they were sent, whether the boundary is plain, quoted or left out', () => {
  for (const [boundary, parameter] of [
    ['--------------------------515890814546601021194782', '; boundary=$'],
    ['a b', '; charset=utf-8; boundary="$"'],
    ['----WebKitFormBoundary7MA4YWxkTrZu0gW', ''],
  ] as const) {
    const type = `multipart/form-data${parameter.replace('$', boundary)}`
    assert.deepEqual(readMultipartFiles(formOf(boundary), type).get('file'), file, type)
    if (parameter === '') continue
    const late = Buffer.concat([Buffer.from('\r\n'), formOf(boundary)])
    assert.deepEqual(readMultipartFiles(late, type).get('file'), file, type)
  }
})

test('a form that is broken, has no boundary or too many parts is refused', () => {
  const type = 'multipart/form-data; boundary=x'
  const refused = { name: 'HttpError', status: 400 }
  assert.throws(() => readMultipartFiles(Buffer.from('nothing'), 'multipart/form-data'), refused)
  assert.throws(() => readMultipartFiles(Buffer.from('--x\r\nnothing'), type), refused)
  assert.throws(() => readMultipartFiles(formOf('x').subarray(0, 40), type), refused)
  assert.throws(() => readMultipartFiles(formOf('x', 17), type), refused)
  const headers = Buffer.from(`--x\r\n${'A: b\r\n'.repeat(1000)}\r\n\r\n--x--\r\n`)
  assert.throws(() => readMultipartFiles(headers, type), refused)
  const nameless = Buffer.from('--x\r\nContent-Type: image/png\r\n\r\ny\r\n--x--\r\n')
  assert.throws(() => readMultipartFiles(nameless, type), refused)
})

test('what only looks like a boundary inside a file stays in the file', () => {
  const content = '\r\n-- --x\r\n-x \n--x'
  const body = `--x\r\nContent-Disposition: form-data; filename="n"; name=file\r\n\r\n${content}\r\n--x--`
  const files = readMultipartFiles(Buffer.from(body), 'multipart/form-data; boundary=x')
  assert.equal(files.get('file')?.toString(), content)
})
