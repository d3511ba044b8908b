// The name of this browser window, the same after a reload: what it keeps and sends is told apart by it.

const NAME = "window-name";
const channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
let own = stored() || fresh();

// A window that was duplicated begins with the name of the one that it was made from: whoever was there keeps it.
channel?.addEventListener("message", ({ data }) => {
  if (data.asks === own) channel.postMessage({ taken: own });
  else if (data.taken === own && performance.now() < 2000) own = fresh();
});
channel?.postMessage({ asks: own });

export function name() {
  return own;
}

function stored() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return ""; // storage is switched off
  }
}

function fresh() {
  const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    sessionStorage.setItem(NAME, made);
  } catch {
    // it lasts until the page is left
  }
  return made;
}
