-- Two commands of a library in Swift, which runs on Neovim's own loop:
--
--   :Find TEXT       looks for a text in all files below the current directory, and lists them as they are found
--   :Follow FILE     shows what a file gets, as `tail -F` does
--
-- Nothing waits for either. Functions of the editor must not be called while its loop turns: what comes from Swift is put
-- aside, and vim.schedule shows it.
local M = {}
local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
local library
local search -- { job, list }, the last one

-- Calls `show` with a list of what `add` was called with, once the editor may be changed.
local function gather(show)
  local waiting = {}
  return function(item)
    table.insert(waiting, item)
    if #waiting > 1 then return end
    vim.schedule(function()
      local items = waiting
      waiting = {}
      show(items)
    end)
  end
end

local function complain(message) vim.notify('finder: ' .. message, vim.log.levels.ERROR) end

local function ended(reason)
  if reason and library then vim.schedule(function() complain(reason) end) end
end

function M.find(text, done)
  if search then library.stop(search.job) end
  local directory = vim.fn.getcwd()
  vim.fn.setqflist({}, ' ', { title = 'Find ' .. text, items = {} })
  local list = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen | wincmd p')
  local add = gather(function(files)
    local items = {}
    for _, matches in ipairs(files) do
      for _, match in ipairs(matches) do
        local name = directory .. '/' .. match[1]
        table.insert(items, { filename = name, lnum = match[2], text = match[3] })
      end
    end
    vim.fn.setqflist({}, 'a', { id = list, items = items })
  end)
  local job, message = library.find(directory, text, 1000, add, function(reason)
    ended(reason)
    if done then vim.schedule(done) end
  end)
  if not job then return complain(message) end
  search = { job = job, list = list }
end

function M.follow(path)
  path = vim.fn.fnamemodify(path, ':p')
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_name(buffer, 'follow://' .. path)
  local isEmpty = true
  local add = gather(function(lines)
    if not vim.api.nvim_buf_is_valid(buffer) then return end
    vim.api.nvim_buf_set_lines(buffer, isEmpty and 0 or -1, -1, false, lines)
    isEmpty = false
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
    end
  end)
  local job, message = library.follow(path, add, ended)
  if not job then return complain(message) end
  vim.api.nvim_create_autocmd('BufWipeout', { buffer = buffer, once = true, callback = function()
    if library then library.stop(job) end
  end })
end

-- options.library: the file that `swift build` has made. Found beside this one if it was built there.
function M.setup(options)
  if library then return end
  local file = options and options.library or here .. '/.build/release/libNeovimPlugin.so'
  local open = assert(package.loadlib(file, 'luaopen_finder'))
  library = assert(open())
  vim.api.nvim_create_user_command('Find', function(call) M.find(call.args) end, { nargs = 1 })
  vim.api.nvim_create_user_command('Follow', function(call) M.follow(call.args) end, { nargs = 1, complete = 'file' })
  vim.api.nvim_create_autocmd('VimLeavePre', { once = true, callback = M.unload })
end

-- Ends what is under way, and leaves Neovim's loop. `setup` begins anew.
function M.unload()
  if not library then return end
  local isOver = false
  library.detach(function() isOver = true end)
  library, search = nil, nil
  vim.api.nvim_del_user_command('Find')
  vim.api.nvim_del_user_command('Follow')
  if not vim.wait(2000, function() return isOver end, 5) then complain('something does not end') end
end

return M
