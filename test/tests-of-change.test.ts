import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testsOfChange } from './support/architecture/tests-of-change.ts'

test('The tests that a change concerns are those of its folders, then those that import it', () => {
  const graph = new Map([
    ['src/gate/rule.ts', []],
    ['src/gate/rule.test.ts', ['src/gate/rule.ts']],
    ['src/http/execute.ts', ['src/gate/rule.ts']],
    ['src/start/create-facegate.ts', ['src/http/execute.ts']],
    ['test/actions/detect.test.ts', ['src/start/create-facegate.ts']],
    ['test/billing/ledger.test.ts', ['src/gate/rule.ts']],
    ['test/gate/crash.test.ts', []],
    ['test/http/envelope.test.ts', ['src/http/execute.ts']],
  ])
  assert.deepEqual(testsOfChange(['src/gate/rule.ts'], graph), [
    'src/gate/rule.test.ts',
    'test/gate/crash.test.ts',
    'test/billing/ledger.test.ts',
    'test/http/envelope.test.ts',
  ])
  assert.deepEqual(testsOfChange(['test/gate/crash.test.ts'], graph), ['test/gate/crash.test.ts'])
  assert.deepEqual(testsOfChange(['README.md'], graph), [])
})
