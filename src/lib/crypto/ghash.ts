/** GHASH, the hash function of AES-GCM (NIST SP 800-38D, 6.4). */

/**
 * The products of a hash key with each value of each byte of a block, four words each. With them, a
 * block is multiplied by the key with sixteen lookups.
 */
export type HashKey = Uint32Array

const blockBytes = 16
const words = 4
const byteValues = 256
/** The polynomial of the field, in the reflected order of bits. */
const polynomial = 0xe1_00_00_00

/** @param key the hash key H: the encryption of a block of zeros. */
export function createHashKey(key: Buffer): HashKey {
  const products: HashKey = new Uint32Array(blockBytes * byteValues * words)
  const power = [0, 4, 8, 12].map((offset) => key.readUInt32BE(offset)) as Block
  for (let byte = 0; byte < blockBytes; byte++) {
    for (let bit = 0x80; bit > 0; bit >>= 1) {
      products.set(power, (byte * byteValues + bit) * words)
      multiplyByX(power)
    }
    for (let value = 1; value < byteValues; value++) {
      const lowBit = value & -value
      for (let word = 0; word < words; word++)
        products[(byte * byteValues + value) * words + word] =
          (products[(byte * byteValues + lowBit) * words + word] ?? 0) ^
          (products[(byte * byteValues + value - lowBit) * words + word] ?? 0)
    }
  }
  return products
}

type Block = [number, number, number, number]

function multiplyByX(block: Block): void {
  const [a, b, c, d] = block
  block[3] = ((d >>> 1) | (c << 31)) >>> 0
  block[2] = ((c >>> 1) | (b << 31)) >>> 0
  block[1] = ((b >>> 1) | (a << 31)) >>> 0
  block[0] = ((a >>> 1) ^ ((d & 1) === 1 ? polynomial : 0)) >>> 0
}

/**
 * Returns the hash of authenticated data and a ciphertext, followed by their lengths. Its four words
 * are valid until the next call.
 */
export type HashMessage = (authenticated: string, ciphertext: Uint8Array) => Uint32Array

const initialMessageBytes = 256

export function createHashMessage(key: HashKey): HashMessage {
  let message = Buffer.alloc(initialMessageBytes)
  const hash = new Uint32Array(words)
  return (authenticated, ciphertext) => {
    const authenticatedBytes = Buffer.byteLength(authenticated)
    const start = roundUpToBlock(authenticatedBytes)
    const end = start + roundUpToBlock(ciphertext.length)
    if (message.length < end + blockBytes) message = Buffer.alloc(end + blockBytes)
    message.fill(0, 0, end + blockBytes)
    message.write(authenticated)
    message.set(ciphertext, start)
    message.writeUInt32BE(authenticatedBytes * 8, end + 4)
    message.writeUInt32BE(ciphertext.length * 8, end + 12)
    hash.fill(0)
    hashBlocks(key, hash, message.subarray(0, end + blockBytes))
    return hash
  }
}

/** Adds each block to the hash and multiplies it by the key. */
function hashBlocks(key: HashKey, hash: Uint32Array, blocks: Uint8Array): void {
  for (let offset = 0; offset < blocks.length; offset += blockBytes) {
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let byte = 0; byte < blockBytes; byte++) {
      const hashByte = (hash[byte >> 2] ?? 0) >>> (24 - 8 * (byte & 3))
      const value = (hashByte & 0xff) ^ (blocks[offset + byte] ?? 0)
      const product = (byte * byteValues + value) * words
      a ^= key[product] ?? 0
      b ^= key[product + 1] ?? 0
      c ^= key[product + 2] ?? 0
      d ^= key[product + 3] ?? 0
    }
    hash[0] = a
    hash[1] = b
    hash[2] = c
    hash[3] = d
  }
}

function roundUpToBlock(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes
}
