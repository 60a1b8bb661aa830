import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMultipartFiles } from './multipart.ts'

/** Returns a form whose parts are files. */
function createForm(boundary: string, parts = 1): Buffer {
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n`
  return Buffer.concat([
    ...Array.from({ length: parts }, () => Buffer.from(`${part}\xff\xd8\0\r\n`, 'latin1')),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

const file = Buffer.from([0xff, 0xd8, 0])

test('Files are read unchanged, whether the boundary is plain, quoted or absent', () => {
  for (const [boundary, parameter] of [
    ['--------------------------515890814546601021194782', '; boundary=$'],
    ['a b', '; charset=utf-8; boundary="$"'],
    ['----WebKitFormBoundary7MA4YWxkTrZu0gW', ''],
  ] as const) {
    const type = `multipart/form-data${parameter.replace('$', boundary)}`
    assert.deepEqual(readMultipartFiles(createForm(boundary), type).get('file'), file, type)
    if (parameter === '') continue
    const withEmptyLine = Buffer.concat([Buffer.from('\r\n'), createForm(boundary)])
    assert.deepEqual(readMultipartFiles(withEmptyLine, type).get('file'), file, type)
  }
})

test('A form that is malformed, has no boundary or has too many parts is rejected', () => {
  const type = 'multipart/form-data; boundary=x'
  const rejection = { name: 'HttpError', status: 400 }
  assert.throws(() => readMultipartFiles(Buffer.from('nothing'), 'multipart/form-data'), rejection)
  assert.throws(() => readMultipartFiles(Buffer.from('--x\r\nnothing'), type), rejection)
  assert.throws(() => readMultipartFiles(createForm('x').subarray(0, 40), type), rejection)
  assert.throws(() => readMultipartFiles(createForm('x', 17), type), rejection)
  const headers = Buffer.from(`--x\r\n${'A: b\r\n'.repeat(1000)}\r\n\r\n--x--\r\n`)
  assert.throws(() => readMultipartFiles(headers, type), rejection)
  const nameless = Buffer.from('--x\r\nContent-Type: image/png\r\n\r\ny\r\n--x--\r\n')
  assert.throws(() => readMultipartFiles(nameless, type), rejection)
})

test('Text in a file that resembles the boundary stays in the file', () => {
  const content = '\r\n-- --x\r\n-x \n--x'
  const body = `--x\r\nContent-Disposition: form-data; filename="n"; name=file\r\n\r\n${content}\r\n--x--`
  const files = readMultipartFiles(Buffer.from(body), 'multipart/form-data; boundary=x')
  assert.equal(files.get('file')?.toString(), content)
})
