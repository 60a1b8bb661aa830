import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesField, integerField, joinMessage, messageField, stringField } from './protobuf.ts'
import type { ProtobufMessage } from './protobuf.ts'

const hex = (message: ProtobufMessage): string => Buffer.from(joinMessage(message)).toString('hex')

/** The first three are the examples of the official protocol buffers documentation. */
test('fields are encoded in the wire format', () => {
  assert.equal(hex(integerField(1, 150)), '089601')
  assert.equal(hex(stringField(2, 'testing')), '120774657374696e67')
  assert.equal(hex(messageField(3, integerField(1, 150))), '1a03089601')
  assert.equal(hex(bytesField(9, Uint8Array.of(0, 255))), '4a0200ff')
})

test('a number of up to seven bits takes one byte, larger numbers take more', () => {
  assert.equal(hex(integerField(1, 0)), '0800')
  assert.equal(hex(integerField(1, 127)), '087f')
  assert.equal(hex(integerField(1, 128)), '088001')
})

test('a negative number takes ten bytes', () => {
  assert.equal(hex(integerField(1, -1)), `08${'ff'.repeat(9)}01`)
})

test('a field number above 15 takes a key of two bytes', () => {
  assert.equal(hex(integerField(20, 7)), 'a00107')
})
