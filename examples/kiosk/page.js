import { runLivenessCheck } from '/liveness/index.js'

const post = async (url, init, signal) => {
  const response = await fetch(url, { ...init, method: 'POST', signal })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return response.json()
}

const result = document.querySelector('#result')
// The kiosk is ready for the next person as soon as one person is done.
for (;;) {
  const outcome = await runLivenessCheck({
    container: document.querySelector('#check'),
    createSession: (signal) => post('/session', {}, signal),
    submitFrames: (session, frames, signal) => {
      const body = new FormData()
      body.set('sessionId', session.sessionId)
      for (const frame of frames) body.append('frame', frame, 'frame.jpg')
      return post('/check-in', { body }, signal)
    },
    onProblem: (error) => console.warn(error.problem, error.cause),
  })
  result.textContent = textOf(outcome)
}

/** The server decides. This page only shows its decision. */
function textOf({ status, verdict }) {
  if (status !== 'passed') return 'The check-in was closed.'
  return verdict.name
    ? `Welcome, ${verdict.name}.`
    : 'You are not on the list. Please go to the desk.'
}
