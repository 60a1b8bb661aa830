import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * Builds the console as static files: hashed assets, one chunk per page, nothing inline. The server
 * can therefore forbid inline scripts and cache the assets permanently.
 */
// Vite requires a default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The server replaces this placeholder with a new nonce in each response.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    chunkSizeWarningLimit: 700,
    // Modules that ten pages or more share are one file: a page loads fewer files.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 10 }] } },
    },
  },
})
