import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme/console.css'
import './theme/phone.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ConsoleApp } from './app/console-app.tsx'
import { setWebpackNonce } from './app/style-nonce.ts'

setWebpackNonce()

const root = document.querySelector('#root')
if (!root) throw new Error('index.html contains no element with the id root.')
createRoot(root).render(
  <StrictMode>
    <ConsoleApp />
  </StrictMode>,
)
