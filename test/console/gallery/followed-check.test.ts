import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  followCheck,
  isToFollow,
  type FollowedCheck,
  type HealthCheck,
} from '../../../web/gallery/health/follow-check.ts'

const noIssues = {
  otherPerson: 0,
  differentPeople: 0,
  duplicate: 0,
  harmful: 0,
  lookAlike: 0,
  missed: 0,
  oldPictures: 0,
  onePicture: 0,
}

const none: FollowedCheck = { check: null, missed: 0 }

function running(measurementId: string, done = 0): HealthCheck {
  return { measurementId, state: 'running', progress: { step: 'pairs', done, total: 9 } }
}

function measured(measurementId: string, minute: number): HealthCheck {
  const result = {
    galleryId: 'gallery',
    modelId: 'model',
    checkedAtUtc: `2026-11-29T10:${minute}:00.000Z`,
    subjects: 0,
    templates: 0,
    unreadable: 0,
    otherFaces: 0,
    threshold: 0.8,
    predictedMisses: null,
    issues: noIssues,
    duplicates: [],
    results: [],
  }
  return { measurementId, state: 'measured', result }
}

/** Returns what a page shows after the responses of several servers. */
function follow(known: FollowedCheck, ...responses: readonly (HealthCheck | null)[]) {
  return responses.reduce<FollowedCheck>(followCheck, known)
}

test('A page that a balancer connects with several servers follows its check to the result', () => {
  const started = { check: running('new'), missed: 0 }
  const older = measured('old', 10)
  const during = follow(started, older, null, running('new', 5), older, running('other'), null)
  assert.deepEqual(during.check, running('new', 5))
  assert.ok(isToFollow(during))
  const ended = follow(during, older, measured('new', 20), older, null)
  assert.deepEqual(ended.check, measured('new', 20))
  assert.ok(!isToFollow(ended))
})

test('A page shows a newer check of another user', () => {
  const shown = follow(none, measured('old', 10))
  assert.deepEqual(follow(shown, measured('new', 20)).check, measured('new', 20))
  assert.deepEqual(follow(shown, running('new')).check, running('new'))
  assert.deepEqual(
    follow(follow(none, { measurementId: 'old', state: 'failed' }), shown.check),
    shown,
  )
})

test('A page searches for a check in a few responses, and stops following one whose server restarted', () => {
  assert.deepEqual(follow(none, null, null, measured('old', 10)).check, measured('old', 10))
  const nulls = (count: number) => Array.from({ length: count }, () => null)
  assert.ok(isToFollow(follow(none, ...nulls(3))))
  assert.ok(!isToFollow(follow(none, ...nulls(4))))
  const followed = follow(none, running('lost'))
  assert.ok(isToFollow(follow(followed, ...nulls(30))))
  const lost = follow(followed, ...nulls(31))
  assert.equal(lost.check, null)
  assert.ok(!isToFollow(lost))
})
