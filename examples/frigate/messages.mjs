/** Returns the tracked person of a message of `frigate/events`, or undefined. */
export function readEvent(payload) {
  let message
  try {
    message = JSON.parse(String(payload))
  } catch {
    return undefined
  }
  const { type, after } = message ?? {}
  const isPerson =
    after?.label === 'person' && !after.false_positive && after.has_snapshot !== false
  // An event with a sub label has a result, of this bridge or of another program.
  if (!isPerson || after.sub_label || !isText(after.id) || !isText(after.camera)) return undefined
  return { id: after.id, camera: after.camera, isEnded: type === 'end' }
}

/** Returns the message for a person, or for a person who is not enrolled. */
export function resultOf({ id, camera }, { bestMatch, faces }) {
  if (!bestMatch) return { event_type: 'unknown', eventId: id, camera, name: 'unknown' }
  const { subjectId, externalId, displayName, similarity } = bestMatch
  const name = displayName ?? externalId ?? subjectId
  // The next person is so similar that the match can be wrong.
  const ambiguous = faces[0]?.ambiguous ?? false
  const person = { name, subjectId, externalId, similarity, ambiguous }
  return { event_type: 'person', eventId: id, camera, ...person }
}

/** Returns the topic of the results of a camera. */
export const topicOf = (camera) => `facegate/${idOf(camera)}/person`

/** Returns the discovery message of the event entity of a camera. */
export function discoveryOf(camera) {
  const id = `facegate_${idOf(camera)}`
  return {
    topic: `homeassistant/event/${id}/config`,
    content: {
      name: `Person at ${camera}`,
      unique_id: id,
      state_topic: topicOf(camera),
      event_types: ['person', 'unknown'],
      icon: 'mdi:face-recognition',
      device: { identifiers: ['facegate'], name: 'Facegate' },
    },
  }
}

/** Topics of MQTT reserve some characters. */
const idOf = (camera) => camera.replaceAll(/[^\w-]/gu, '_')
const isText = (value) => typeof value === 'string' && value !== ''
