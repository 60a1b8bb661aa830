import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'

test('an empty environment gives the default of every setting', () => {
  const config = readConfig({})
  assert.equal(config.PORT, 8080)
  assert.equal(config.HOST, '127.0.0.1')
  assert.equal(config.IMAGE_BYTES_MAX, 8 * 1024 * 1024)
  assert.equal(config.BODY_BYTES_MAX, 24 * 1024 * 1024)
  assert.ok(Object.isFrozen(config))
})

test('the error names every invalid variable', () => {
  assert.throws(
    () => readConfig({ PORT: '99999', VISION_WORKERS: 'two', LOG_LEVEL: 'loud', HOST: '' }),
    (error: Error) =>
      ['PORT', 'VISION_WORKERS', 'LOG_LEVEL', 'HOST'].every((name) => error.message.includes(name)),
  )
})

test('lists of file types and of origins are parsed, and every unknown item is named', () => {
  const { IMAGE_TYPES_EXTRA, CORS_ORIGINS, BINARY_BODIES } = readConfig({})
  assert.deepEqual([IMAGE_TYPES_EXTRA, CORS_ORIGINS, BINARY_BODIES], [[], [], 'off'])
  const types = readConfig({ IMAGE_TYPES_EXTRA: ' webp,avif, webp' }).IMAGE_TYPES_EXTRA
  assert.deepEqual(types, ['webp', 'avif'])
  assert.throws(
    () => readConfig({ IMAGE_TYPES_EXTRA: 'webp,heic,bmp' }),
    /IMAGE_TYPES_EXTRA: must be a list of webp, gif, avif, tiff, .*; heic, bmp is not one of them/u,
  )
  const origins = 'https://app.example.org, http://localhost:3000'
  assert.deepEqual(readConfig({ CORS_ORIGINS: origins }).CORS_ORIGINS, origins.split(', '))
  assert.deepEqual(readConfig({ CORS_ORIGINS: '*' }).CORS_ORIGINS, ['*'])
  for (const wrong of [
    'https://app.example.org/',
    'https://app.example.org/path',
    'https://App.example.org',
    'https://app.example.org:443',
    'https://*.example.org',
    'app.example.org',
    'ftp://app.example.org',
    'null',
    '*,https://app.example.org',
  ])
    assert.throws(() => readConfig({ CORS_ORIGINS: wrong }), /CORS_ORIGINS: must be \*/u, wrong)
})

test('PUBLIC_URL is an origin or empty', () => {
  assert.equal(readConfig({}).PUBLIC_URL, '')
  assert.equal(readConfig({ PUBLIC_URL: 'https://a.example' }).PUBLIC_URL, 'https://a.example')
  for (const wrong of ['a.example', 'https://a.example/', 'https://a.example/x', 'ftp://a.example'])
    assert.throws(() => readConfig({ PUBLIC_URL: wrong }), /PUBLIC_URL: must be an origin/u, wrong)
})

test('HOST has no brackets, and networks of IPv4 are not written as IPv6', () => {
  assert.equal(readConfig({ HOST: '::1' }).HOST, '::1')
  assert.throws(() => readConfig({ HOST: '[::1]' }), /HOST: must have no brackets/u)
  const networks = '10.0.0.0/8,fd00::/8,::/0'
  const accepted = readConfig({ WEBHOOK_ALLOWED_NETWORKS: networks })
  assert.equal(accepted.WEBHOOK_ALLOWED_NETWORKS, networks)
  for (const wrong of ['::ffff:10.0.0.0/104', '0:0:0:0:0:ffff:a00:0/104', '10.0.0.0'])
    assert.throws(
      () => readConfig({ WEBHOOK_ALLOWED_NETWORKS: wrong }),
      /WEBHOOK_ALLOWED_NETWORKS: must be a list of networks .* without ::ffff:/u,
      wrong,
    )
})

test('SEARCH=pgvector without a PostgreSQL database is rejected', () => {
  assert.throws(() => readConfig({ SEARCH: 'pgvector' }), /SEARCH: .*DATABASE_URL=postgres/u)
})

test('a DATABASE_URL that is not PostgreSQL is rejected, not ignored', () => {
  for (const url of ['mysql://db/x', 'db.example', 'postgres:db', ' postgres://db/x'])
    assert.throws(() => readConfig({ DATABASE_URL: url }), /DATABASE_URL.*SQLite/u)
  for (const url of ['', 'postgres://db/x', 'postgresql://me:secret@db:5432/x?sslmode=verify-full'])
    assert.equal(readConfig({ DATABASE_URL: url }).DATABASE_URL, url)
})

test('a body of the maximum size must fit in the budget of a project, and each budget in the next', () => {
  const names = [
    'BODY_BYTES_MAX',
    'BODIES_PER_PROJECT_BYTES_MAX',
    'BODIES_PER_ACCOUNT_BYTES_MAX',
    'BODIES_BYTES_MAX',
  ]
  const read = (larger?: string) =>
    readConfig(Object.fromEntries(names.map((name) => [name, name === larger ? '2049' : '2048'])))
  assert.equal(read().BODIES_BYTES_MAX, 2048)
  for (const [index, name] of names.slice(0, -1).entries())
    assert.throws(() => read(name), new RegExp(`${names[index + 1]}: .*${name}, 2049`, 'u'))
})
