-- Uses the plugin as somebody at a keyboard would, and ends Neovim with 1 unless everything is as it should be.
-- usage: nvim --headless --clean --cmd 'set runtimepath+=FOLDER' -c 'luafile test.lua'    with the library's path in $LIBRARY
local uv = vim.uv or vim.loop
local finder = require 'finder'
local folder = vim.fn.tempname()
local FILES = 2000

local function write(name, mode, text)
  local file = assert(io.open(folder .. '/' .. name, mode))
  file:write(text)
  file:close()
end

local function descriptors() return #vim.fn.readdir('/proc/self/fd') end

-- A step waits until a condition is true, and then goes on: Neovim's loop runs meanwhile, as it does for a user.
local function wait(what, condition)
  local start = uv.now()
  while not condition() do
    assert(uv.now() - start < 20000, 'waits in vain for ' .. what)
    local step = coroutine.running()
    vim.defer_fn(function() coroutine.resume(step) end, 1)
    coroutine.yield()
  end
end

local function list() return vim.fn.getqflist() end
local function lines(buffer) return vim.api.nvim_buf_get_lines(buffer, 0, -1, false) end

local function find()
  local isOver, mostAtOnce, last, shows = false, 0, 0, 0
  vim.api.nvim_input('ione ')
  finder.find('needle', function() isOver = true end)
  -- Somebody types on in the window where the cursor was, while the list grows.
  local typed = 0
  wait('the end of the search', function()
    if #list() > last then shows, last = shows + 1, #list() end
    typed = typed + 1
    if typed <= 20 then vim.api.nvim_input('x') end
    return isOver
  end)
  wait('what was typed', function() return vim.fn.getline(1) == 'one ' .. ('x'):rep(math.min(typed, 20)) end)
  assert(#list() == FILES / 10, 'found ' .. #list())
  assert(shows > 1, 'all was shown at once')
  for _, item in ipairs(list()) do
    assert(item.lnum == 3 and item.text == 'a needle here', vim.inspect(item))
    assert(vim.fn.bufname(item.bufnr):match('%d+0%.txt$'), vim.fn.bufname(item.bufnr))
  end
  vim.api.nvim_input('<Esc>')
end

local function anotherSearch()
  local first, second
  finder.find('text', function() first = true end)
  vim.cmd('Find needle')
  wait('the end of the first search', function() return first end)
  wait('the second search', function() return #list() == FILES / 10 end)
  local isOver
  finder.find('not there', function() isOver = true end)
  wait('a search for nothing', function() return isOver end)
  assert(#list() == 0)
end

local function follow()
  write('log', 'w', 'first\n')
  vim.cmd('Follow ' .. folder .. '/log')
  local buffer = vim.api.nvim_get_current_buf()
  local wanted = { 'first' }
  local function has() return vim.deep_equal(lines(buffer), wanted) end
  wait('the first line', has)
  for number = 1, 200 do
    write('log', 'a', 'line ' .. number .. '\n')
    table.insert(wanted, 'line ' .. number)
  end
  wait('200 lines', has)
  assert(os.rename(folder .. '/log', folder .. '/log.1'))
  write('log', 'w', 'of the next file\n')
  table.insert(wanted, 'of the next file')
  wait('the line of the next file', has)
  assert(vim.fn.line('.') == #wanted, 'the cursor is not at the end')
  vim.cmd('bwipeout')
end

local function errors()
  local said
  local notify = vim.notify
  vim.notify = function(message) said = message end
  vim.cmd('Follow ' .. folder .. '/no/such/file')
  wait('an error', function() return said end)
  assert(said:match('^finder: there is no directory .*/no to watch'), said)
  vim.cmd('bwipeout')
  vim.notify = notify
end

local function unload(before)
  finder.find('needle')
  vim.cmd('Follow ' .. folder .. '/log')
  finder.unload()
  assert(vim.fn.exists(':Find') == 0)
  wait('descriptors to close', function() return descriptors() <= (before or math.huge) end)
  return descriptors()
end

local function all()
  vim.fn.mkdir(folder, 'p')
  for number = 1, FILES do
    write(number .. '.txt', 'w', 'text\ntext\n' .. (number % 10 == 0 and 'a needle here' or 'hay') .. '\nmore text\n')
  end
  vim.cmd('cd ' .. folder)
  vim.o.swapfile = false
  local before -- after the first round, since the library's threads stay
  for _ = 1, 3 do
    finder.setup { library = vim.env.LIBRARY }
    find()
    anotherSearch()
    follow()
    errors()
    before = unload(before)
    vim.cmd('silent! only! | enew!')
  end
  finder.setup { library = vim.env.LIBRARY }
  -- Neovim ends with a search and a file under way.
  vim.cmd('Find needle')
  vim.cmd('Follow ' .. folder .. '/log')
end

coroutine.wrap(function()
  local passed, message = xpcall(all, debug.traceback)
  vim.fn.delete(folder, 'rf')
  io.stdout:write(passed and 'Neovim: passed\n' or message .. '\n')
  vim.cmd(passed and 'qall!' or 'cquit')
end)()
