import '/liveness/index.js'

const result = document.querySelector('#result')
const check = document.querySelector('facegate-liveness')
check.addEventListener('passed', ({ detail }) => void checkIn(detail.sessionId))
check.addEventListener('error', ({ detail }) => console.warn(detail.problem, detail.cause))

/** The server decides. This page only shows its decision. */
async function checkIn(sessionId) {
  const response = await fetch(`/check-in?session=${sessionId}`, { method: 'POST' })
  const { name } = response.ok ? await response.json() : {}
  result.textContent = name
    ? `Welcome, ${name}.`
    : 'You are not on the list. Please go to the desk.'
  // The kiosk is ready for the next person.
  check.reset()
}
